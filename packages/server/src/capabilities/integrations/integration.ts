/** Port `Integration`: an external system that sends signed deliveries to agents and receives their answers. */

/** A request of the external system. SECRET: never logged. */
export type RawDelivery = {
  /** By their names in lower case. */
  headers: Readonly<Record<string, string | undefined>>
  /** The bytes as they came: a signature does not survive decoding and encoding. */
  body: Uint8Array
}

/** `unsigned`: a header is missing or malformed. `forged`: no secret makes this signature. `stale`: signed too early or too late. */
export type DeliveryRefusal = 'unsigned' | 'forged' | 'stale'

export type DeliveryCheck =
  /** `id` names the delivery: the signature covers it, and it is the same when the external system sends the delivery again. */
  { kind: 'genuine'; id: string } | { kind: 'refused'; reason: DeliveryRefusal }

/**
 * `malformed`: the body is no payload of this kind. `stranger`: the publication does not allow this author. `bot`: a program wrote it.
 * `unrelated`: the publication waits for no event of this kind.
 */
export type IgnoredDelivery = {
  kind: 'ignored'
  reason: 'malformed' | 'stranger' | 'bot' | 'unrelated'
  field: string
}

export type IncomingMessage = {
  kind: 'message'
  /** Names the external thread; each thread has one session. */
  scope: string
  author: string
  /** The request of an allowed author. */
  text: string
  /** Texts around the request, by their labels. Anyone may have written them. */
  context: Readonly<Record<string, string | null>>
}

export type OutgoingAnswer = {
  /** The id of the event that is told: the same for each attempt, so that a receiver drops repetitions. */
  id: string
  scope: string
  text: string
}

export type AnswerRequest = { headers: Readonly<Record<string, string>>; body: string }

/** `status`: the receiver's. `error`: no answer came. */
export type AnswerOutcome = { status: number; retryAfter: string | null } | { error: string }

export type AnswerVerdict =
  | { kind: 'delivered' }
  | { kind: 'again'; afterMs: number }
  /** `needs_reauth`: the receiver does not accept our credential; nothing more goes there until somebody renews it. */
  | { kind: 'needs_reauth' }
  | { kind: 'failed' }

/** `Config`: what a publication declares for this kind. Every function is pure: a repeated step decides as before. */
export type Integration<Config> = {
  /** Each of `secrets` is valid, so that one can replace another without a lost delivery. Without a secret nothing is genuine. */
  check(delivery: RawDelivery, secrets: readonly string[], nowMs: number): DeliveryCheck
  /** Never throws: the body of a genuine delivery may hold anything. */
  read(body: Uint8Array, config: Config): IncomingMessage | IgnoredDelivery
  answer(answer: OutgoingAnswer, secrets: readonly string[], nowMs: number): AnswerRequest
}
