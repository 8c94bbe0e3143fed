//! Messages of the Hadoop cluster: templates by severity and class.

use super::super::rng::{Rng, mix};
use super::line::LineExt;

const POOL: &str = "BP-108841162-10.10.34.11-1440074360971";
const NUM_DATANODES: u64 = 24;
/// Average number of lines about one block.
const LINES_PER_BLOCK: u64 = 8;

const DATA_NODE: &str = "org.apache.hadoop.hdfs.server.datanode.DataNode";
const CLIENT_TRACE: &str = "org.apache.hadoop.hdfs.server.datanode.DataNode.clienttrace";
const DISK_SERVICE: &str =
    "org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.FsDatasetAsyncDiskService";
const SCANNER: &str = "org.apache.hadoop.hdfs.server.datanode.BlockPoolSliceScanner";
const STATE_CHANGE: &str = "org.apache.hadoop.hdfs.StateChange";
const BLOCK_MANAGER: &str = "BlockStateChange";
const EDIT_LOG: &str = "org.apache.hadoop.hdfs.server.namenode.FSEditLog";
const PLACEMENT: &str = "org.apache.hadoop.hdfs.server.blockmanagement.BlockPlacementPolicyDefault";

/// The message templates, in the order of [`INFO`], [`WARN`] and [`ERROR`].
#[derive(Clone, Copy, Debug)]
enum Template {
    ResponderDownstream,
    ResponderLast,
    Receiving,
    Received,
    ClientWrite,
    ClientRead,
    Scheduling,
    Deleted,
    Verified,
    Allocated,
    Stored,
    Transactions,
    SlowMirror,
    SlowFlush,
    ServingFailed,
    NotEnoughReplicas,
    WriteFailed,
    ReadTimedOut,
    ResponderFailed,
    Signal,
}
use Template::*;

/// A template, its weight within the list, and the class that logs it.
type Weighted = (Template, u64, &'static str);

const INFO: &[Weighted] = &[
    (ResponderDownstream, 150, DATA_NODE),
    (ResponderLast, 100, DATA_NODE),
    (Receiving, 240, DATA_NODE),
    (Received, 60, DATA_NODE),
    (ClientWrite, 110, CLIENT_TRACE),
    (ClientRead, 60, CLIENT_TRACE),
    (Scheduling, 50, DISK_SERVICE),
    (Deleted, 50, DISK_SERVICE),
    (Verified, 30, SCANNER),
    (Allocated, 50, STATE_CHANGE),
    (Stored, 90, BLOCK_MANAGER),
    (Transactions, 10, EDIT_LOG),
];
const WARN: &[Weighted] = &[
    (SlowMirror, 45, DATA_NODE),
    (SlowFlush, 25, DATA_NODE),
    (ServingFailed, 20, DATA_NODE),
    (NotEnoughReplicas, 10, PLACEMENT),
];
const ERROR: &[Weighted] = &[
    (WriteFailed, 45, DATA_NODE),
    (ReadTimedOut, 30, DATA_NODE),
    (ResponderFailed, 22, DATA_NODE),
    (Signal, 3, DATA_NODE),
];

/// One event: a template with its block, node and class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    template: Template,
    severity: &'static str,
    class: &'static str,
    node: u64,
    block: u64,
}

impl Event {
    pub(crate) fn info(rng: &mut Rng, doc_ord: u64) -> Event {
        Event::draw("INFO", INFO, rng, doc_ord)
    }

    pub(crate) fn warn(rng: &mut Rng, doc_ord: u64) -> Event {
        Event::draw("WARN", WARN, rng, doc_ord)
    }

    pub(crate) fn error(rng: &mut Rng, doc_ord: u64) -> Event {
        Event::draw("ERROR", ERROR, rng, doc_ord)
    }

    fn draw(severity: &'static str, from: &[Weighted], rng: &mut Rng, doc_ord: u64) -> Event {
        let total: u64 = from.iter().map(|(_, weight, _)| weight).sum();
        let draw = rng.next();
        let mut rest = ((draw >> 40) * total) >> 24;
        let mut chosen = from[0];
        for candidate in from {
            chosen = *candidate;
            if rest < candidate.1 {
                break;
            }
            rest -= candidate.1;
        }
        Event {
            template: chosen.0,
            severity,
            class: chosen.2,
            node: draw % NUM_DATANODES,
            // A recent block: several lines are about each block.
            block: (doc_ord / LINES_PER_BLOCK).saturating_sub(draw >> 8 & 31),
        }
    }

    pub(crate) fn severity(&self) -> &'static str {
        self.severity
    }

    pub(crate) fn class(&self) -> &'static str {
        self.class
    }

    fn is_namenode(&self) -> bool {
        matches!(
            self.template,
            Allocated | Stored | Transactions | NotEnoughReplicas
        )
    }

    pub(crate) fn service(&self) -> &'static str {
        if self.is_namenode() {
            "namenode/"
        } else {
            "datanode/"
        }
    }

    pub(crate) fn service_num(&self) -> u64 {
        if self.is_namenode() {
            1 + self.node % 2
        } else {
            1 + self.node
        }
    }
}

/// The words of which every template is made.
trait Words: LineExt {
    /// Appends `blk_1074072698_331874`.
    fn block(&mut self, event: &Event) -> &mut Self {
        self.text("blk_").num(1_073_741_825 + event.block);
        self.text("_").num(1_001 + event.block)
    }

    /// Appends `BP-108841162-10.10.34.11-1440074360971:blk_1074072698_331874`.
    fn pool_block(&mut self, event: &Event) -> &mut Self {
        self.text(POOL).text(":").block(event)
    }

    /// Appends `/10.10.34.17`.
    fn host(&mut self, node: u64) -> &mut Self {
        self.text("/10.10.34.").num(11 + node % NUM_DATANODES)
    }

    /// Appends `/10.10.34.17:36154`.
    fn client(&mut self, rng: &mut Rng) -> &mut Self {
        let draw = rng.next();
        self.host(draw >> 32).text(":").num(32_768 + draw % 28_232)
    }

    /// Appends `/10.10.34.17:50010`.
    fn datanode(&mut self, node: u64) -> &mut Self {
        self.host(node).text(":50010")
    }

    /// Appends `/data/dfs/3/current/BP-…/current/finalized/subdir12/subdir200/blk_1074072698`.
    fn block_file(&mut self, event: &Event) -> &mut Self {
        self.text("/data/dfs/")
            .num(1 + event.block % 6)
            .text("/current/")
            .text(POOL);
        self.text("/current/finalized/subdir")
            .num(event.block >> 8 & 63);
        self.text("/subdir").num(event.block & 255);
        self.text("/blk_").num(1_073_741_825 + event.block)
    }

    /// Appends `9d0f4c2a1b3e5f60-...`: the stable identity of a data node.
    fn server_id(&mut self, node: u64) -> &mut Self {
        self.hex(mix(node + 7_001))
    }
}
impl Words for Vec<u8> {}

/// Appends the message of `event`. It contains no quotes and no backslashes.
pub(crate) fn write_body(line: &mut Vec<u8>, event: &Event, rng: &mut Rng) {
    match event.template {
        ResponderDownstream | ResponderLast | Receiving | Received => pipeline(line, event, rng),
        ClientWrite | ClientRead => client_trace(line, event, rng),
        Scheduling | Deleted | Verified => disk(line, event),
        Allocated | Stored | Transactions | NotEnoughReplicas => namenode(line, event, rng),
        SlowMirror | SlowFlush | ServingFailed => warning(line, event, rng),
        WriteFailed | ReadTimedOut | ResponderFailed | Signal => failure(line, event, rng),
    }
}

fn pipeline(line: &mut Vec<u8>, event: &Event, rng: &mut Rng) {
    match event.template {
        ResponderDownstream => {
            line.text("PacketResponder: ").pool_block(event);
            line.text(", type=HAS_DOWNSTREAM_IN_PIPELINE terminating");
        }
        ResponderLast => {
            line.text("PacketResponder: ").pool_block(event);
            line.text(", type=LAST_IN_PIPELINE, downstreams=0:[] terminating");
        }
        Receiving => {
            line.text("Receiving ")
                .pool_block(event)
                .text(" src: ")
                .client(rng);
            line.text(" dest: ").datanode(event.node);
        }
        _ => {
            line.text("Received ")
                .pool_block(event)
                .text(" src: ")
                .client(rng);
            line.text(" dest: ")
                .datanode(event.node)
                .text(" of size ")
                .num(block_len(rng));
        }
    }
}

/// Returns the length of a block: two in three are full, the others have any length.
fn block_len(rng: &mut Rng) -> u64 {
    if rng.chance(2, 3) {
        134_217_728
    } else {
        rng.between(512, 134_217_727)
    }
}

fn client_trace(line: &mut Vec<u8>, event: &Event, rng: &mut Rng) {
    let job = event.block / 64;
    line.text("src: ");
    if matches!(event.template, ClientWrite) {
        line.client(rng).text(", dest: ").datanode(event.node);
        line.text(", bytes: ")
            .num(block_len(rng))
            .text(", op: HDFS_WRITE");
    } else {
        line.datanode(event.node).text(", dest: ").client(rng);
        line.text(", bytes: ")
            .num(block_len(rng))
            .text(", op: HDFS_READ");
    }
    line.text(", cliID: DFSClient_NONMAPREDUCE_")
        .num(mix(job + 1) % 2_000_000_000);
    line.text("_")
        .num(1 + job % 97)
        .text(", offset: 0, srvID: ")
        .server_id(event.node);
    line.text(", blockid: ").pool_block(event);
    // Nanoseconds: mostly milliseconds, sometimes a minute.
    let shift = rng.below(15);
    line.text(", duration: ")
        .num(rng.between(400_000, 4_000_000) << shift);
}

fn disk(line: &mut Vec<u8>, event: &Event) {
    match event.template {
        Scheduling => {
            line.text("Scheduling ")
                .block(event)
                .text(" file ")
                .block_file(event);
            line.text(" for deletion");
        }
        Deleted => {
            line.text("Deleted ").text(POOL).text(" ").block(event);
            line.text(" file ").block_file(event);
        }
        _ => {
            line.text("Verification succeeded for ").pool_block(event);
        }
    }
}

fn namenode(line: &mut Vec<u8>, event: &Event, rng: &mut Rng) {
    match event.template {
        Allocated => {
            line.text("BLOCK* allocateBlock: /user/etl/warehouse/day=")
                .num(event.block / 4_096);
            line.text("/part-r-")
                .padded(event.block % 4_096, 5)
                .text(". ")
                .text(POOL);
            line.text(" ")
                .block(event)
                .text("{blockUCState=UNDER_CONSTRUCTION, primaryNodeIndex=-1}");
        }
        Stored => {
            line.text("BLOCK* addStoredBlock: blockMap updated: 10.10.34.")
                .num(11 + event.node);
            line.text(":50010 is added to ")
                .block(event)
                .text(" size ")
                .num(block_len(rng));
        }
        Transactions => {
            line.text("Number of transactions: ")
                .num(rng.between(2, 4_000));
            line.text(" Total time for transactions(ms): ")
                .num(rng.between(1, 90));
            line.text(" Number of transactions batched in Syncs: ")
                .num(rng.below(700));
            line.text(" Number of syncs: ").num(rng.between(2, 2_500));
        }
        _ => {
            line.text("Failed to place enough replicas, still in need of ")
                .num(rng.between(1, 2));
            line.text(" to reach 3 for ").block(event);
            line.text(" (unavailableStorages=[], newBlock=true) All required storage types are ");
            line.text("unavailable");
        }
    }
}

fn warning(line: &mut Vec<u8>, event: &Event, rng: &mut Rng) {
    match event.template {
        SlowMirror => {
            line.text("Slow BlockReceiver write packet to mirror took ")
                .num(rng.between(301, 4_800));
            line.text("ms (threshold=300ms), downstream ")
                .datanode(rng.next() >> 32);
            line.text(" for ").pool_block(event);
        }
        SlowFlush => {
            line.text("Slow flushOrSync took ")
                .num(rng.between(301, 9_000));
            line.text("ms (threshold=300ms), isSync:true, flushTotalNanos=")
                .num(rng.between(9_000, 99_000));
            line.text("ns for ").pool_block(event);
        }
        _ => {
            line.text("DatanodeRegistration(10.10.34.")
                .num(11 + event.node);
            line.text(", datanodeUuid=")
                .server_id(event.node)
                .text(", infoPort=50075) ");
            line.text("Got exception while serving ")
                .pool_block(event)
                .text(" to ")
                .client(rng);
            line.text(" java.net.SocketTimeoutException: 480000 millis timeout");
        }
    }
}

fn failure(line: &mut Vec<u8>, event: &Event, rng: &mut Rng) {
    line.text("datanode-")
        .padded(1 + event.node, 2)
        .text(".cluster.example:50010:");
    match event.template {
        WriteFailed => {
            line.text("DataXceiver error processing WRITE_BLOCK operation src: ")
                .client(rng);
            line.text(" dst: ").datanode(event.node);
            line.text(" java.io.IOException: Premature EOF from inputStream");
        }
        ReadTimedOut => {
            line.text("DataXceiver error processing READ_BLOCK operation src: ")
                .client(rng);
            line.text(" dst: ").datanode(event.node);
            line.text(" java.net.SocketTimeoutException: 480000 millis timeout while waiting for ");
            line.text("channel to be ready for write");
        }
        ResponderFailed => {
            line.text("IOException in BlockReceiver.run() for ")
                .pool_block(event);
            line.text(" java.io.IOException: Connection reset by peer");
        }
        _ => {
            line.text("RECEIVED SIGNAL 15: SIGTERM while ")
                .num(rng.between(1, 60));
            line.text(" transfers are running");
        }
    }
}
