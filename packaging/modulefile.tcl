#%Module1.0
# For Environment Modules and Lmod. Installed as PREFIX/share/modulefiles/runner/VERSION:
#   module use PREFIX/share/modulefiles && module load runner
set version [file tail $ModulesCurrentModulefile]
set prefix $ModulesCurrentModulefile
foreach _ {version runner modulefiles share} { set prefix [file dirname $prefix] }

proc ModulesHelp {} {
    puts stderr "runner: image and volume jobs that are larger than memory. See man runner."
}
module-whatis "Image and volume jobs that are larger than memory, on GPUs and cores"
conflict runner

prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
prepend-path XDG_DATA_DIRS $prefix/share
