"""Resolves sources, builds them in the sandbox, and keeps each build under the digest of its inputs.

Sources and builds are packed to travel to other machines; what other machines send is not trusted.
"""

from zerolap.build.archive import LIMITS as ARCHIVE_LIMITS
from zerolap.build.archive import pack_source, unpack_source
from zerolap.build.artifact import pack_build, unpack_build
from zerolap.build.build_differences import BuildDifferences, build_differences
from zerolap.build.build_functions import source_functions
from zerolap.build.builder import Builder, Builds, BuiltServer, measured_server, named, spec_of
from zerolap.build.command_files import CommandFiles
from zerolap.build.commit_range import BRANCH, RANGE, RangedCommit, commits_of
from zerolap.build.function_parameters import LONGEST_DEFINITION_LINES, Parameter, parameters_of
from zerolap.build.git import GitEnded, GitStopped, read_git, run_git
from zerolap.build.initial_ramdisk import RamdiskEntry, pack_ramdisk, program_entries
from zerolap.build.kernel_build import KERNELS, BuiltKernel, KernelBuilder, KernelSource
from zerolap.build.placement import LinkFailed
from zerolap.build.program import LARGEST_PROGRAM_BYTES, Program, setting_arguments
from zerolap.build.revision_name import commit_of, enclosing_repository, required_commit
from zerolap.build.server_files import is_compiled, may_be_built
from zerolap.build.source import resolve, revision_source
from zerolap.build.source_changes import changes_between
from zerolap.build.variant import DEFAULT, Variant, all_tools, parse_variant, tools_of

__all__ = [
    "ARCHIVE_LIMITS",
    "BRANCH",
    "DEFAULT",
    "KERNELS",
    "LARGEST_PROGRAM_BYTES",
    "LONGEST_DEFINITION_LINES",
    "RANGE",
    "BuildDifferences",
    "Builder",
    "Builds",
    "BuiltKernel",
    "BuiltServer",
    "CommandFiles",
    "GitEnded",
    "GitStopped",
    "KernelBuilder",
    "KernelSource",
    "LinkFailed",
    "Parameter",
    "Program",
    "RamdiskEntry",
    "RangedCommit",
    "Variant",
    "all_tools",
    "build_differences",
    "changes_between",
    "commit_of",
    "commits_of",
    "enclosing_repository",
    "is_compiled",
    "may_be_built",
    "measured_server",
    "named",
    "pack_build",
    "pack_ramdisk",
    "pack_source",
    "parameters_of",
    "parse_variant",
    "program_entries",
    "read_git",
    "required_commit",
    "resolve",
    "revision_source",
    "run_git",
    "setting_arguments",
    "source_functions",
    "spec_of",
    "tools_of",
    "unpack_build",
    "unpack_source",
]
