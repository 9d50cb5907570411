/** Bounds of the direct connections of a process. */
export type PeerLimits = {
  /** Milliseconds to connect and to prove the key. */
  handshakeMs: number
  /** Milliseconds between heartbeats of each side. Three times as long without one ends the connection. */
  heartbeatMs: number
  /** Longest pause between two attempts to connect, in milliseconds. */
  pauseMs: number
  /** Most unsent bytes of one process. Above them its further words are dropped. */
  waitingBytes: number
  /** Connections that have not proved the key. A further one ends the oldest. */
  strangers: number
  /** Processes known at once. */
  peers: number
  /** Topics that one process may read. */
  topics: number
}

export const usualPeerLimits: PeerLimits = {
  handshakeMs: 5_000,
  heartbeatMs: 5_000,
  pauseMs: 15_000,
  waitingBytes: 4 * 1024 * 1024,
  strangers: 64,
  peers: 1_000,
  topics: 1_000_000,
}
