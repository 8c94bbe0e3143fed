/*
 * What stores charge for a search, in US dollars: the list prices of `canter prices`, without free allowances
 * and taxes. A GB has 2^30 bytes there.
 */

/** @import { Cost } from "./cost.js" */

export const PRICES_AS_OF = "2026-11-21";

/** @type {readonly { id: string, name: string, perRead: number, perGb: number }[]} */
export const SERVICES = [
  { id: "s3", name: "Amazon S3, over the internet", perRead: 0.0004 / 1000, perGb: 0.09 },
  { id: "s3-region", name: "Amazon S3, from its own region", perRead: 0.0004 / 1000, perGb: 0 },
  { id: "r2", name: "Cloudflare R2", perRead: 0.00036 / 1000, perGb: 0 },
];

/**
 * @param {Pick<Cost, "numRequests" | "numBytes">} cost
 * @param {{ perRead: number, perGb: number }} service
 */
export function priceOf({ numRequests, numBytes }, { perRead, perGb }) {
  const requests = numRequests * perRead;
  const transfer = (numBytes / 2 ** 30) * perGb;
  return { requests, transfer, total: requests + transfer };
}
