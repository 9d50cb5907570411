/** What passes the gate, in words that its owner (server or worker) and the gate share. */
import type { Duplex, Readable } from 'node:stream'

/** Names and values in the order and case they came; a name may come twice. */
export type Headers = [name: string, value: string][]

/** One HTTP request on its way out. */
export type Outbound = {
  method: string
  url: URL
  /**
   * Without those that concern one hop alone (connection, proxy-…, transfer-encoding, te, trailer), Host, which the
   * URL says, and Expect. Upgrade stands in those of `upgrade` alone.
   */
  headers: Headers
  /** Null when the request has none. Read with back-pressure; destroyed when the answer comes first. */
  body: Readable | null
  /** Aborts when the caller goes away. */
  signal: AbortSignal
}

/** The head is there, the body streams. Whoever gets an answer reads its body to the end or destroys it. Status 200 to 599. */
export type OutboundAnswer = { status: number; headers: Headers; body: Readable }

/** After a 101: what both sides write from now on; `head` has been read already. */
export type UpgradedConnection = { status: 101; headers: Headers; socket: Duplex; head: Buffer }

export type Target = { host: string; port: number }

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

export type Refusal = Target & { reason: RefusalReason; message: string }

/** What to do with a connection, once its target is known. */
export type ConnectionVerdict =
  /** TLS ends here; each request goes to `forward`. */
  | { kind: 'read' }
  /** Bytes pass unseen. */
  | { kind: 'tunnel' }
  | ({ kind: 'refuse' } & Omit<Refusal, keyof Target>)

/** Thrown by `forward`, `upgrade` and `dial` for what was not sent. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Who stands behind a gate. What fails without being `Refused` is the upstream's failure, answered with 502. */
export interface GateOwner {
  judge(target: Target): Promise<ConnectionVerdict>
  forward(request: Outbound): Promise<OutboundAnswer>
  /** A GET without a body that asks to switch protocols, WebSocket for one. */
  upgrade(request: Outbound): Promise<OutboundAnswer | UpgradedConnection>
  /** For a tunnel; the socket is connected. */
  dial(target: Target): Promise<Duplex>
  /** Told of each refusal, its own and those the gate makes. */
  refused(refusal: Refusal): void
  /** Told when a tunnel has ended. */
  tunnelled(target: Target & { ms: number; bytesOut: number; bytesIn: number }): void
}
