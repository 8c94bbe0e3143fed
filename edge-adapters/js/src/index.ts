/*
 * The package's API for every runtime. What is ready for one platform is in `entry/`.
 */

export { createCanter } from "./canter.js";
export type { Answer, CallOptions, Canter, SearchRequest, SearchResponse } from "./canter.js";
export type { BudgetOptions, CanterOptions, FanOutOptions, ThreadOptions } from "./options.js";
export { errorAnswer } from "./api.js";
export { responseOf } from "./http.js";
export type { HttpManners, Manner } from "./http.js";
export { CanterError, FetchFailure } from "./errors.js";
export { guestSource } from "./guest.js";
export type { GuestSource, Log, MadeGuest, ModuleSource } from "./guest.js";
export type { Thread, ThreadListener, ThreadSource } from "./thread/protocol.js";
export type { RequestRecord, SearchReport } from "./io/report.js";
export type * from "./protocol.js";

export { httpStore } from "./store/http.js";
export type { HttpStoreOptions } from "./store/http.js";
export type { FetchedRange, FetchRange, RangeRequest } from "./store/contract.js";
export type { StoreFault } from "./store/faults.js";

export { cacheApiCache } from "./cache/cache-api.js";
export type { CacheApiOptions, CacheLike } from "./cache/cache-api.js";
export type { EntryCache } from "./cache/contract.js";
export { memoryCache } from "./cache/memory.js";
export { tieredCache } from "./cache/tiered.js";
