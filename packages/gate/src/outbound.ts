/** The types that a gate and its owner (server or worker) share. */
import type { Duplex, Readable } from 'node:stream'

/** Names and values in their original order and case. A name may occur twice. */
export type HeaderPairs = [name: string, value: string][]

/** One HTTP request that leaves the sandbox. */
export type Outbound = {
  method: string
  url: URL
  /**
   * Without hop-by-hop headers (connection, proxy-…, transfer-encoding, te, trailer), without Host, which the URL
   * repeats, and without Expect. Only requests to `upgrade` have Upgrade.
   */
  headers: HeaderPairs
  /** Null when the request has none. Read with backpressure. Destroyed when the answer comes first. */
  body: Readable | null
  /** Aborts when the caller goes away. */
  signal: AbortSignal
}

/** The head is complete and the body streams. Read the body to its end or destroy it. Status 200 to 599. */
export type OutboundAnswer = { status: number; headers: HeaderPairs; body: Readable }

/** The connection after a 101. `head`: bytes of the upstream that were read already. */
export type UpgradedConnection = { status: 101; headers: HeaderPairs; socket: Duplex; head: Buffer }

export type GateTarget = { host: string; port: number }

export type RefusalReason =
  /** The environment does not list the host. */
  | 'not_allowed'
  /** The environment's denylist, or the service, rules the host out. */
  | 'denied'
  /** A bare address instead of a name. */
  | 'bare_address'
  | 'port'
  /** The name resolves to an address that the service does not dial. */
  | 'private_address'
  /** The name of the request differs from the name of the connection. */
  | 'mismatch'
  /** A client that speaks only HTTP/2 to a host whose traffic is read. */
  | 'protocol'
  /** The session no longer holds its sandbox. */
  | 'fenced'
  /** The vault could not be read; nothing goes out without knowing what to add. */
  | 'vault'
  /** There is no room for another connection. */
  | 'limit'

export type GateRefusal = GateTarget & { reason: RefusalReason; message: string }

/** The decision about a connection whose target is known. */
export type ConnectionVerdict =
  /** TLS ends here; each request goes to `forward`. */
  | { kind: 'read' }
  /** Bytes pass unseen. */
  | { kind: 'tunnel' }
  | ({ kind: 'refuse' } & Omit<GateRefusal, keyof GateTarget>)

/** Thrown by `forward`, `upgrade` and `dial` for a request that was not sent. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly refusal: GateRefusal
  constructor(refusal: GateRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/**
 * The owner of a gate. An error other than `RequestRefused` is a failure of the upstream, which the gate answers with
 * 502.
 */
export interface GateOwner {
  judge(target: GateTarget): Promise<ConnectionVerdict>
  forward(request: Outbound): Promise<OutboundAnswer>
  /** Forwards a GET without body that asks to switch protocols, for example to WebSocket. */
  upgrade(request: Outbound): Promise<OutboundAnswer | UpgradedConnection>
  /** Resolves with a connected socket for a tunnel. */
  dial(target: GateTarget): Promise<Duplex>
  /** Called for each refusal, the owner's own and the gate's. */
  refused(refusal: GateRefusal): void
  /** Called when a tunnel has ended. */
  tunnelled(target: GateTarget & { ms: number; bytesOut: number; bytesIn: number }): void
}
