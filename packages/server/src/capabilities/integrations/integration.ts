/** Port `Integration`: an external system that sends signed deliveries to agents and receives their answers. */

import type {
  AuthorCheck,
  ContextData,
  IncomingFile,
  KnownIds,
  Wake,
} from '../../ground/database/tables/integrations.ts'
import type { PullRequestLink } from './github/links.ts'
import type { PlanStep } from './answers/plan.ts'

/** A request of the external system. SECRET: never logged. */
export type RawDelivery = {
  /** Headers by their names in lower case. */
  headers: Readonly<Record<string, string | undefined>>
  /** The original bytes: after decoding and encoding, the signature would not match. */
  body: Uint8Array
}

/**
 * `unsigned`: a header is missing or malformed. `forged`: no secret makes this signature. `stale`: the signed time is
 * too early or too late.
 */
export type DeliveryRefusal = 'unsigned' | 'forged' | 'stale'

export type DeliveryCheck =
  /** `id` identifies the delivery. The signature covers the id, and a repeated delivery has the same id. */
  { kind: 'genuine'; id: string } | { kind: 'refused'; reason: DeliveryRefusal }

/**
 * `malformed`: the body is no payload of this kind. `stranger`: the publication does not allow this author. `bot`: a
 * program wrote the text. `unrelated`: the publication does not react to this event. `unnamed`: several agents could be
 * meant, and none is named.
 */
export type IgnoredDelivery = {
  kind: 'ignored'
  reason: 'malformed' | 'stranger' | 'bot' | 'unrelated' | 'unnamed'
  field: string
  /** What the person is told where the publication says so, and where. */
  refusal?: Refusal
}

/** `message`: absent where it is that of every stranger. */
export type Refusal = { scope: string; author: string; target: Notes; message?: string }

/** Plain JSON that an adapter stores: small, and without secrets. */
export type Notes = { readonly [name: string]: string | number | null }

/** The parts that all requests of an allowed author have, about one external thread. */
type FromAuthor = {
  /** Identifies the external thread. Each thread has one session. */
  scope: string
  author: string
  /** Present where only the provider can say whether the author may call the agent. */
  check?: AuthorCheck
  /** Ids of names in the publication that the delivery shows. */
  learned?: KnownIds
}

export type IncomingMessage = FromAuthor & {
  kind: 'message'
  text: string
  /** Texts around the request, by their labels. Anyone may have written these texts. */
  context: Readonly<Record<string, ContextData>>
  /** The target of answers. The newest message of a thread decides. */
  target: Notes
  files?: readonly IncomingFile[]
  /** The time at which the author wrote, for a provider that signs no time. */
  saidMs?: number
  /**
   * Present for a request that calls whatever agent it names: the word that may be a name, and the text without that
   * word.
   */
  named?: { word: string | null; text: string }
  /** A text that mentions nobody: it is for an agent that has joined the thread. */
  isFollowUp?: true
  /** Present where something has happened to a pull request of the agent. Nobody has asked then, but for a review. */
  wake?: Wake
  /** Present for a text that answers a question: the calls that the thread had been told when the text arrived. */
  questions?: readonly string[]
}

/**
 * A pressed button of a question. `call`: the call of the question. `message`: the provider's id of the message with
 * the button.
 */
export type IncomingDecision = FromAuthor & {
  kind: 'decision'
  call: string
  message: string
  result: 'allow' | 'deny'
}

export type IncomingInterrupt = FromAuthor & { kind: 'interrupt'; target?: Notes }

export type Incoming = IncomingMessage | IncomingDecision | IncomingInterrupt | IgnoredDelivery

/** A part of a session's story for the people of an external thread. `id`: the same for each attempt to tell it. */
export type Telling = { id: string } &
  /** The message has come. */
  (
    | { kind: 'accepted' }
    /** The agent has read the message, and works. */
    | { kind: 'begun' }
    /** A message of the agent within a turn. */
    | { kind: 'thought'; text: string }
    /** A plan replaces earlier plans. The message that contains the plan is told next. */
    | { kind: 'plan'; steps: readonly PlanStep[] }
    /** Links add to earlier links. The message that contains the links is told next. */
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
    /**
     * The turn waits for an answer. `confirmation`: people allow or deny a call. `answer`: the next message of the thread
     * is the answer.
     */
    | {
        kind: 'question'
        call: string
        needs: 'confirmation' | 'answer'
        name: string
        input: string
      }
    /** The buttons of a question that needs a confirmation, for providers that show buttons apart from the text. */
    | { kind: 'confirmation'; call: string; name: string; input: string }
    /** The last message of a turn, or its beginning where it is longer than a message at the provider. */
    | { kind: 'reply'; text: string }
    /** A reply whose headings name lines of files. The reply itself is told next. */
    | { kind: 'remarks'; text: string }
    /** The next part of a reply. */
    | { kind: 'more'; text: string }
    | { kind: 'error'; message: string }
    /** A person has ended the turn. */
    | { kind: 'stopped' }
    /** The turn has ended without a message. */
    | { kind: 'ended' }
    /** Somebody may not call the agent. */
    | { kind: 'refused'; message: string }
    /** Something that people have to know, and that answers nobody. */
    | { kind: 'notice'; message: string }
    /** The turn has ended, and may have left files. */
    | { kind: 'files' }
  )

/** `notes`: the notes of earlier tellings, empty at first. */
export type ExternalThread = {
  session: string
  scope: string
  target: Notes
  notes: Notes
  /** The session in the console, where the address of the console is known. */
  link?: string
  /** The time of the attempt. */
  nowMs?: number
}

/** `path`: the path behind the base URL of the provider's API. The caller of the adapter adds the credential. */
export type ProviderCall = {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  headers: Readonly<Record<string, string>>
  body: string | null
  /** People do not need this call. A refusal says nothing about the credential. */
  isOptional?: boolean
  /**
   * The call changes a message that the notes name. When the receiver refuses the call, the telling is made again
   * without the notes.
   */
  continues?: boolean
  /**
   * The call replies in a thread that people may delete. When the receiver refuses the call, the telling is made again
   * with the target of `withoutThread`.
   */
  repliesInThread?: boolean
  /** When the receiver refuses the call, the telling is made again with this target. */
  otherTarget?: Notes
}

/** `status`: the status of the answer. `body`: the body, or its beginning when it is long. `error`: no answer came. */
export type AnswerOutcome =
  | { status: number; retryAfter: string | null; body: string }
  | { error: string }

export type AnswerVerdict =
  | { kind: 'delivered' }
  /** `heldMs`: for this time the receiver accepts no request about any thread. */
  | { kind: 'again'; afterMs: number; heldMs?: number }
  /** `needs_reauth`: the receiver does not accept the credential. Nothing more is sent until a person renews it. */
  | { kind: 'needs_reauth' }
  | { kind: 'failed' }

/** `attempts`: their number so far, with this one. `random` is in [0, 1). */
export type Attempt = { attempts: number; random: number; nowMs: number }

/** `unreadable`: the answer does not show whether the telling exists. */
export type SearchResult =
  | { kind: 'found'; notes: Notes; url?: string }
  | { kind: 'absent' | 'unreadable' }

/** `Config`: the part of a publication for this kind. Every function is pure, so a repeated step decides the same. */
export type Integration<Config> = {
  /**
   * Checks a signature. All `secrets` are valid at once, so that a secret can be replaced without a lost delivery.
   * Without secrets nothing is genuine.
   */
  check(delivery: RawDelivery, secrets: readonly string[], nowMs: number): DeliveryCheck
  /**
   * Parses a body once, for all publications that it may concern. Never throws, because the body of a genuine delivery
   * may contain anything.
   */
  read(body: Uint8Array): (config: Config) => Incoming
  /** The call that makes the telling. Null when nobody is told. */
  callFor(telling: Telling, thread: ExternalThread): ProviderCall | null
  /**
   * A question to the provider that some tellings need first. `callFor`: the question, or null. `targetOf`: the target
   * with the answer. `targetWithout`: the target where the provider does not say it.
   */
  lookUp?: {
    callFor(telling: Telling, thread: ExternalThread): ProviderCall | null
    targetOf(telling: Telling, thread: ExternalThread, body: string): Notes | undefined
    targetWithout?(telling: Telling, thread: ExternalThread): Notes | undefined
  }
  /** Looks for the result of an attempt whose end is unknown. Null when a repetition does no harm. */
  searchFor(telling: Telling, thread: ExternalThread): ProviderCall | null
  /** Reads the answer of `searchFor`: whether the telling exists, and the notes after it. */
  found(telling: Telling, thread: ExternalThread, body: string): SearchResult
  /** The notes after a delivered call. */
  noted(telling: Telling, thread: ExternalThread, body: string): Notes
  /** Judges an answer. A provider may report an error in the body under a status of success. */
  verdict(outcome: AnswerOutcome, attempt: Attempt): AnswerVerdict
  /** Why the receiver has refused, in its own words. */
  reasonOf(outcome: AnswerOutcome): string
  /** Where people read the telling that a call has made. */
  urlOf?(telling: Telling, thread: ExternalThread, body: string): string | undefined
  /** The target without a thread that was deleted; undefined where the target names none. */
  withoutThread?(target: Notes): Notes | undefined
  /** The most characters of one message. A longer reply is told in parts. */
  mostCharacters?: number
}

/** A place for the bytes of one file. `id`: the provider's id. */
export type UploadTarget = { id: string; url: string }

export type FileUploads = {
  /** The scope that the app needs to send files. */
  scope: string
  /** Asks for a place for the bytes of a file. */
  callForTarget(file: { name: string; size: number }): ProviderCall
  targetOf(body: string): UploadTarget | undefined
  /** Posts the message with all files. */
  callForAll(
    files: readonly { id: string; name: string }[],
    comment: string | undefined,
    thread: ExternalThread,
  ): ProviderCall
  /** Looks for the message after an attempt whose end is unknown. */
  searchFor(telling: Telling, thread: ExternalThread): ProviderCall | null
  /** Returns undefined when the answer does not tell. */
  isThere(id: string, body: string): boolean | undefined
}

/**
 * `revoked`: the external workspace has ended the installation. `suspended` and `resumed`: the external workspace has
 * stopped the installation for a while. `atMs`: the signed time of the change, or null when each installation has an id
 * of its own.
 */
export type InstallationChange = {
  kind: 'revoked' | 'suspended' | 'resumed'
  atMs: number | null
}

/** An app that external workspaces install. All deliveries come to one address. */
export type AppIntegration<Config> = Integration<Config> & {
  /** The external id of the workspace that a genuine delivery comes from. */
  workspaceOf(body: Uint8Array): string | undefined
  /** The answer that the provider expects to this delivery; undefined when it expects none. */
  challengeOf(body: Uint8Array): string | undefined
  changeOf(body: Uint8Array): InstallationChange | undefined
  /** What the provider's own page calls the delivery. Nothing signs it, so it proves nothing. */
  numberOf(delivery: RawDelivery): string | undefined
}
