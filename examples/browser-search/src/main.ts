/*
 * Starts the search page (edge-adapters/page) on an engine in this browser: the API that a server would answer is
 * answered by a Web Worker.
 */

import { startPage } from "../../../edge-adapters/page/src/app.js";
import { startBackend } from "./backend.js";
import type { Settings } from "./settings.js";

async function main(): Promise<void> {
  if ("serviceWorker" in navigator) {
    // Without it the page works as well, but not off line.
    navigator.serviceWorker
      .register("service-worker.js", { type: "module" })
      .catch(() => undefined);
  }
  const settings = (await (await fetch("settings.json")).json()) as Settings;
  const root = document.getElementById("canter");
  if (root === null) return;
  const backend = await startBackend(settings);
  startPage(root, backend, {
    title: settings.title,
    levelField: settings.levelField,
    columns: [settings.levelField, settings.labelField, settings.messageField],
    examples: settings.examples,
    about:
      "No server took part: the engine runs in this page and reads byte ranges of static files.",
  });
}

main().catch((error: unknown) => {
  const place = document.getElementById("canter");
  const what = error instanceof Error ? error.message : String(error);
  if (place !== null) place.textContent = `The search engine did not start: ${what}`;
});
