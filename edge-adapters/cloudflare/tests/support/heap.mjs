/*
 * How much JavaScript memory the Worker's isolate has, told by workerd's inspector. Array buffers are part
 * of it; the guest's memory the Worker tells itself.
 */

import { createRequire } from "node:module";

// Node has a WebSocket of its own from version 22 on only; miniflare brings this one.
const require = createRequire(import.meta.url);
const { WebSocket } = createRequire(require.resolve("miniflare"))("ws");

/** Looks every few milliseconds until `stop`, which gives the most that was seen. */
export async function watchHeap(miniflare) {
  const inspector = await miniflare.getInspectorURL();
  const list = await (await fetch(`http://${inspector.host}/json`)).json();
  const worker = list.find(({ webSocketDebuggerUrl: url }) =>
    url.endsWith("core:user:canter-search"),
  );
  const socket = new WebSocket(worker.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const waiting = new Map();
  socket.on("message", (data) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let lastId = 0;
  const look = async () => {
    const id = ++lastId;
    const usage = new Promise((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method: "Runtime.getHeapUsage" }));
    const { totalSize, backingStorageSize = 0, embedderHeapUsedSize = 0 } = await usage;
    return totalSize + backingStorageSize + embedderHeapUsedSize;
  };
  let peak = 0;
  let isOn = true;
  const watching = (async () => {
    while (isOn) {
      peak = Math.max(peak, await look());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    peak = Math.max(peak, await look());
  })();
  return {
    async stop() {
      isOn = false;
      await watching;
      socket.close();
      return peak;
    },
  };
}
