cwlVersion: v1.2
class: CommandLineTool
label: runs a job file on one input
baseCommand: [runner, run, --quiet]
requirements:
  ResourceRequirement:
    coresMin: 1
    ramMin: $(inputs.memory_mib)
inputs:
  job:
    type: File
    label: a job file; its input.file and output.file are replaced
    inputBinding:
      position: 1
  image:
    type: File
    label: an HDF5 file
  memory_mib:
    type: int
    label: memory_per_rank.host_bytes of runner plan --json, in MiB
arguments:
  - position: 2
    prefix: --set
    valueFrom: input.file="$(inputs.image.path)"
  - position: 3
    prefix: --set
    valueFrom: output.file="$(inputs.job.nameroot).h5"
  - position: 4
    prefix: --report
    valueFrom: $(inputs.job.nameroot).json
outputs:
  result:
    type: File
    outputBinding:
      glob: $(inputs.job.nameroot).h5
  report:
    type: File
    outputBinding:
      glob: $(inputs.job.nameroot).json
