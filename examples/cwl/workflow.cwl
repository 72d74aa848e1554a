cwlVersion: v1.2
class: Workflow
label: medians, then means of blocks
requirements:
  MultipleInputFeatureRequirement: {}
inputs:
  image: File
  median_job: File
  half_job: File
  memory_mib: int
steps:
  median:
    run: runner.cwl
    in:
      job: median_job
      image: image
      memory_mib: memory_mib
    out: [result, report]
  half:
    run: runner.cwl
    in:
      job: half_job
      image: median/result
      memory_mib: memory_mib
    out: [result, report]
outputs:
  result:
    type: File
    outputSource: half/result
  reports:
    type: File[]
    outputSource: [median/report, half/report]
