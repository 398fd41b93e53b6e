"""Resolves sources, builds them in the sandbox, and keeps each build under the digest of its inputs.

Sources and builds are packed to travel to other machines; what other machines send is not trusted.
"""

from zerolap.build.archive import (
    ARCHIVE_LIMITS as ARCHIVE_LIMITS,
    pack_source as pack_source,
    unpack_source as unpack_source,
)
from zerolap.build.artifact import pack_build as pack_build, unpack_build as unpack_build
from zerolap.build.build_differences import BuildDifferences as BuildDifferences, build_differences as build_differences
from zerolap.build.build_functions import functions_of_build as functions_of_build, source_functions as source_functions
from zerolap.build.builder import (
    Builder as Builder,
    Builds as Builds,
    BuiltServer as BuiltServer,
    spec_of as spec_of,
)
from zerolap.build.command_files import CommandFiles as CommandFiles
from zerolap.build.commands_of_tests import commands_of_tests as commands_of_tests
from zerolap.build.commit_range import (
    BRANCH as BRANCH,
    RangedCommit as RangedCommit,
    commits_of as commits_of,
)
from zerolap.build.function_parameters import (
    LONGEST_DEFINITION_LINES as LONGEST_DEFINITION_LINES,
    Parameter as Parameter,
    parameters_of as parameters_of,
)
from zerolap.build.git import GitEnded as GitEnded, GitStopped as GitStopped, read_git as read_git, run_git as run_git
from zerolap.build.initial_ramdisk import (
    RamdiskEntry as RamdiskEntry,
    pack_ramdisk as pack_ramdisk,
    program_entries as program_entries,
)
from zerolap.build.kernel_build import (
    KERNELS as KERNELS,
    BuiltKernel as BuiltKernel,
    KernelBuilder as KernelBuilder,
    KernelSource as KernelSource,
)
from zerolap.build.placement import LinkFailed as LinkFailed
from zerolap.build.program import (
    LARGEST_PROGRAM_BYTES as LARGEST_PROGRAM_BYTES,
    Program as Program,
    setting_arguments as setting_arguments,
)
from zerolap.build.repository_page import page_of_remote as page_of_remote, repository_page as repository_page
from zerolap.build.revision_name import (
    commit_of as commit_of,
    enclosing_repository as enclosing_repository,
    required_commit as required_commit,
)
from zerolap.build.source import resolve as resolve, revision_source as revision_source
from zerolap.build.source_changes import changes_between as changes_between
from zerolap.build.variant import (
    DEFAULT as DEFAULT,
    Variant as Variant,
    all_tools as all_tools,
    parse_variant as parse_variant,
    tools_of as tools_of,
)
