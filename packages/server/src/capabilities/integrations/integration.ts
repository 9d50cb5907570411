/** Port `Integration`: an external system that sends signed deliveries to agents and receives their answers. */

import type { IncomingFile } from '../../ground/database/integration-tables.ts'
import type { PullRequestLink } from './links.ts'
import type { PlanStep } from './plan.ts'

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

/** Plain JSON that an adapter keeps for itself: small, and never a secret. */
export type Notes = { readonly [name: string]: string | number | null }

/** Of an allowed author, about one external thread. */
type FromAuthor = {
  /** Names the external thread; each thread has one session. */
  scope: string
  author: string
}

export type IncomingMessage = FromAuthor & {
  kind: 'message'
  text: string
  /** Texts around the request, by their labels. Anyone may have written them. */
  context: Readonly<Record<string, string | null>>
  /** Where answers go. The newest message of a thread decides. */
  target: Notes
  files?: readonly IncomingFile[]
  /** When it was said, of a provider that signs no time. */
  saidMs?: number
  /** Of a text that answers a question: the calls that the thread had been told when the text came. */
  questions?: readonly string[]
}

/** A button of a question. `call`: the `call` of the question. `message`: the provider's id of what holds the button. */
export type IncomingDecision = FromAuthor & {
  kind: 'decision'
  call: string
  message: string
  result: 'allow' | 'deny'
}

export type IncomingInterrupt = FromAuthor & { kind: 'interrupt' }

export type Incoming = IncomingMessage | IncomingDecision | IncomingInterrupt | IgnoredDelivery

/** A part of a session's story for the people of an external thread. `id`: the same for each attempt to tell it. */
export type Telling = { id: string } & (
  | { kind: 'accepted' }
  /** The agent has the message. */
  | { kind: 'begun' }
  /** A message of the agent within a turn. */
  | { kind: 'thought'; text: string }
  /** In place of the plans before it. The message that holds it is told behind it. */
  | { kind: 'plan'; steps: readonly PlanStep[] }
  /** Beside those before them. The message that holds them is told behind them. */
  | { kind: 'links'; links: readonly PullRequestLink[] }
  /** `input`: JSON. `result`: null while the call runs. */
  | {
      kind: 'action'
      call: string
      name: string
      input: string
      result: string | null
      isError: boolean
    }
  /** The turn waits. `confirmation`: of a call, by allow or deny. `answer`: in words, by the next message of the thread. */
  | {
      kind: 'question'
      call: string
      needs: 'confirmation' | 'answer'
      name: string
      input: string
    }
  /** The buttons of a question that needs a confirmation, where the provider shows them apart from its text. */
  | { kind: 'confirmation'; call: string; name: string; input: string }
  /** The last message of a turn. */
  | { kind: 'reply'; text: string }
  | { kind: 'error'; message: string }
  /** A turn has ended, and may have left files. */
  | { kind: 'files' }
)

/** `notes`: of the tellings before, empty at first. */
export type ExternalThread = {
  session: string
  scope: string
  target: Notes
  notes: Notes
}

/** `path`: after the base of the provider's interface. Its credential is added outside the adapter. */
export type ProviderCall = {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  headers: Readonly<Record<string, string>>
  body: string | null
  /** People know without it all that they need: its refusal says nothing about the credential. */
  isOptional?: boolean
  /** It changes what the notes name. Where its receiver refuses that, the telling is told anew without the notes. */
  continues?: boolean
}

/** `status`: the receiver's; `body`: the beginning of a long one. `error`: no answer came. */
export type AnswerOutcome =
  | { status: number; retryAfter: string | null; body: string }
  | { error: string }

export type AnswerVerdict =
  | { kind: 'delivered' }
  /** `heldMs`: for so long the receiver takes no request, whichever thread it is for. */
  | { kind: 'again'; afterMs: number; heldMs?: number }
  /** `needs_reauth`: the receiver does not accept our credential; nothing more goes there until somebody renews it. */
  | { kind: 'needs_reauth' }
  | { kind: 'failed' }

/** `begun`: attempts so far, this one included. `random` is in [0, 1). */
export type Attempt = { begun: number; random: number; nowMs: number }

/** `unreadable`: the answer does not say whether it is there. */
export type SearchResult = { kind: 'found'; notes: Notes } | { kind: 'absent' | 'unreadable' }

/** `Config`: what a publication declares for this kind. Every function is pure: a repeated step decides as before. */
export type Integration<Config> = {
  /** Each of `secrets` is valid, so that one can replace another without a lost delivery. Without a secret nothing is genuine. */
  check(delivery: RawDelivery, secrets: readonly string[], nowMs: number): DeliveryCheck
  /** Never throws: the body of a genuine delivery may hold anything. */
  read(body: Uint8Array, config: Config): Incoming
  /** Null where people of this kind are not told. */
  callFor(telling: Telling, thread: ExternalThread): ProviderCall | null
  /** What a telling needs to know of the provider before its call, and the target with it; null where the target has it. */
  lookUp?: {
    callFor(telling: Telling, thread: ExternalThread): ProviderCall | null
    targetOf(thread: ExternalThread, body: string): Notes | undefined
  }
  /** Looks for what an attempt of unknown end may have made. Null where a repetition does no harm. */
  searchFor(telling: Telling, thread: ExternalThread): ProviderCall | null
  /** Whether the answer of `searchFor` holds the telling, and the notes that it then leaves. */
  found(telling: Telling, thread: ExternalThread, body: string): SearchResult
  /** The notes after a delivered call. */
  noted(telling: Telling, thread: ExternalThread, body: string): Notes
  /** A provider may say in a body what its status does not. */
  verdict(outcome: AnswerOutcome, attempt: Attempt): AnswerVerdict
}

/** How files of agents come into threads. `id`: the provider's. */
export type UploadPlace = { id: string; url: string }

export type FileUploads = {
  /** Without which the app may send no files. */
  scope: string
  /** Asks where the bytes of a file go. */
  callForPlace(file: { name: string; size: number }): ProviderCall
  placeOf(body: string): UploadPlace | undefined
  /** Makes the message. */
  callForAll(
    files: readonly { id: string; name: string }[],
    comment: string | undefined,
    thread: ExternalThread,
  ): ProviderCall
  /** Looks for the message after an attempt of unknown end. */
  searchFor(telling: Telling, thread: ExternalThread): ProviderCall | null
  /** Undefined where the answer does not say it. */
  isThere(id: string, body: string): boolean | undefined
}

/**
 * `revoked`: the external workspace has taken back what it allowed. `suspended` and `resumed`: for a while. `atMs`: when, by the signed
 * body; null where each installation has an id of its own.
 */
export type InstallationChange = {
  kind: 'revoked' | 'suspended' | 'resumed'
  atMs: number | null
}

/** An app that is installed in external workspaces, and has one address for the deliveries of all. */
export type AppIntegration<Config> = Integration<Config> & {
  /** The external id of the workspace that a genuine delivery is about. */
  workspaceOf(body: Uint8Array): string | undefined
  /** What the provider expects in the answer to this delivery; undefined for nothing. */
  challengeOf(body: Uint8Array): string | undefined
  changeOf(body: Uint8Array): InstallationChange | undefined
}
