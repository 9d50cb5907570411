/** Ports of work on code: what a pull request consists of, the rights of git, and new pull requests. */
import type { AnswerOutcome, ProviderCall } from './integration.ts'

/** `isOfFork`: its branch lies in another repository, which the app cannot write. */
export type PullRequestHead = {
  branch: string
  commit: string
  isOpen: boolean
  isOfFork: boolean
}

/** What a token lets git do in one repository. */
export type GitRights = { repository: string; mayWrite: boolean }

/**
 * What a session is about. `number`: of an issue or pull request in the repository. `line`: Markdown that leads to a
 * thread elsewhere; undefined where no address does.
 */
export type CodeSubject = { number: number } | { line: string | undefined }

/**
 * `call`: the call that opens it. `link`: the session in the console, where the console's address is known.
 */
export type NewPullRequest = {
  repository: string
  about: CodeSubject
  session: string
  call: string
  link: string | undefined
  title: string
  body: string
  branch: string
  base: string | undefined
  draft: boolean
}

/** Requests to the provider with the app's credential. */
export type PullRequestPort = {
  /** For reads, which an interrupt ends. */
  send: (call: ProviderCall) => Promise<AnswerOutcome>
  /** For the request that has an effect. An interrupt does not end it, so that its answer is known. */
  sendOnce: (call: ProviderCall) => Promise<AnswerOutcome>
}

/** `refused`: why there is none, in words for the agent. */
export type OpenedPullRequest = { number: number; url: string } | { refused: string }

/**
 * Opens a pull request, or finds the one that an earlier attempt of the same call has opened. Throws only for a bug.
 */
export type OpenAtProvider = (
  port: PullRequestPort,
  asked: NewPullRequest,
) => Promise<OpenedPullRequest>
