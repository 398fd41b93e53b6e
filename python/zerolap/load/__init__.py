"""Load on a server: the load generator driven slice by slice, data sets, companions, other load tools."""

from zerolap.load.companions import Companions as Companions, companions as companions
from zerolap.load.filling import Instrument as Instrument, prepare as prepare
from zerolap.load.generator import (
    CommandResult as CommandResult,
    LoadProgram as LoadProgram,
    LookUpCounts as LookUpCounts,
    SliceResult as SliceResult,
    counted_arguments as counted_arguments,
    load_program as load_program,
    packaged as packaged,
    shown_errors as shown_errors,
    timed_arguments as timed_arguments,
)
from zerolap.load.idle_connections import idle_connections as idle_connections
from zerolap.load.load_host import (
    LoadGenerator as LoadGenerator,
    LoadHost as LoadHost,
    MachineWatch as MachineWatch,
)
from zerolap.load.load_series import (
    NS_PER_SECOND as NS_PER_SECOND,
    LatencySummary as LatencySummary,
    LoadSeries as LoadSeries,
    LoadSlot as LoadSlot,
    longest_us as longest_us,
)
from zerolap.load.open_ended import (
    SLOT_SECONDS as SLOT_SECONDS,
    OpenEndedLoad as OpenEndedLoad,
    open_ended_load as open_ended_load,
    read_series as read_series,
)
from zerolap.load.reference_work import reference_ns as reference_ns
from zerolap.load.target import Target as Target, by_socket as by_socket
from zerolap.load.tools import OWN_TOOL as OWN_TOOL, LoadOutcome as LoadOutcome, LoadWork as LoadWork
from zerolap.load.warm_up import warm_up as warm_up
