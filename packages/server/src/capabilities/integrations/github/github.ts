/**
 * Deliveries of GitHub: mentions, assignments, labels and requested reviews on issues and pull requests, and pressed
 * buttons.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { externalIdForm } from './checks.ts'
import {
  callFor,
  findGithubComment,
  githubNotesAfter,
  githubUrlOf,
  lookUp,
  searchFor,
  withoutLineThread,
} from './answers.ts'
import { mostCharacters } from './texts.ts'
import { judgeGithubAnswer } from './verdict.ts'
import { isSigned } from '../deliveries/hmac.ts'
import type {
  AppIntegration,
  IgnoredDelivery,
  Incoming,
  IncomingDecision,
  IncomingMessage,
  InstallationChange,
  Refusal,
} from '../integration.ts'
import type { CallOfAgent, GithubConfig } from './config.ts'
import { requestOf } from './requests.ts'
import { readChecks, wakingRequestOf } from './wakes.ts'
import type { Payload, Post, Thread } from './payload.ts'
import { payloadForm, saidForm } from './payload.ts'
import type { ContextData, KnownIds } from '../../../ground/database/tables/integrations.ts'
import { learnedName, listedName, sameName } from '../deliveries/listed-names.ts'
import { ignoredDelivery, parseJsonOrForm, shortenContext } from '../deliveries/payload.ts'
import { namedIn } from '../deliveries/routing.ts'
import { refusalReason } from '../answers/verdict.ts'

const signatureForm = /^sha256=([0-9a-f]{64})$/

const installed = z.object({ id: z.number().int().positive() })
const installationForm = z.object({ installation: installed })
/**
 * The form matches only events about an installation: other events name their installation by the id alone, and a
 * deleted team, for example, ends no installation.
 */
const changeForm = z.object({
  installation: installed.extend({ account: z.object({}), app_id: z.number() }),
  action: z.string(),
})

const changes: Readonly<Record<string, InstallationChange['kind']>> = {
  deleted: 'revoked',
  suspend: 'suspended',
  unsuspend: 'resumed',
}

export const githubIntegration: AppIntegration<GithubConfig> = {
  /**
   * Only the body is signed, so a header with an id or an event proves nothing. The id is a hash of what was said and
   * when it was changed last, else of the body: a replay under other headers or with other bytes has the id of the first
   * delivery. GitHub signs no time, so no delivery is stale. A request that is too old is recognised by `saidMs`.
   */
  check({ headers, body }, secrets) {
    const [, hex] = signatureForm.exec(headers['x-hub-signature-256'] ?? '') ?? []
    if (hex === undefined) return { kind: 'refused', reason: 'unsigned' }
    if (!isSigned(hex, secrets, [body])) return { kind: 'refused', reason: 'forged' }
    const id = createHash('sha256').update(saidIn(body) ?? body)
    return { kind: 'genuine', id: id.digest('hex') }
  },

  /** Recognises the event by the body, because the header that names the event is not signed. */
  read(body) {
    const { data, error } = payloadForm.safeParse(parseJsonOrForm(body))
    return (config) =>
      data ? readPayload(data, config) : ignoredDelivery('malformed', error ? pointerOf(error) : '')
  },

  workspaceOf(body) {
    const { data } = installationForm.safeParse(parseJsonOrForm(body))
    return data && String(data.installation.id)
  },

  challengeOf: () => undefined,

  changeOf(body) {
    const { data } = changeForm.safeParse(parseJsonOrForm(body))
    const kind = data && changes[data.action]
    return kind && { kind, atMs: null }
  },

  numberOf: ({ headers }) => headers['x-github-delivery'],

  callFor,
  lookUp,
  searchFor,
  found: findGithubComment,
  noted: githubNotesAfter,
  verdict: judgeGithubAnswer,
  reasonOf: refusalReason,
  urlOf: (_telling, _thread, body) => githubUrlOf(body),
  withoutThread: withoutLineThread,
  mostCharacters,
}

/**
 * Names a new comment or a review at its last change. GitHub counts the comments of issues, of the code of pull requests
 * and of commits apart.
 */
function saidIn(body: Uint8Array): string | undefined {
  const { data } = saidForm.safeParse(parseJsonOrForm(body))
  const said = data && { created: data.comment, submitted: data.review }[data.action ?? '']
  const at = said?.updated_at ?? said?.submitted_at ?? said?.created_at
  if (!data?.repository || said?.id === undefined || !at) return undefined
  const about = data.issue ? 'issue' : 'code'
  return JSON.stringify([data.action, about, data.repository.full_name, said.id, Date.parse(at)])
}

function readPayload(payload: Payload, config: GithubConfig): Incoming {
  const repository = repositoryOf(payload, config)
  if (!repository) return ignoredDelivery('unrelated', '/repository/full_name')
  if (payload.check_run) return decisionOf(payload, repository.listed, config)
  if (payload.check_suite) return readChecks(payload, repository, config)
  return readRequest(payload, repository, config)
}

type ListedRepository = { listed: string; name: string }

function readRequest(
  payload: Payload,
  repository: ListedRepository,
  config: GithubConfig,
): Incoming {
  const { sender, issue, pull_request } = payload
  const about = issue ?? pull_request
  const request = requestOf(payload, config) ?? wakingRequestOf(payload, config)
  if (!about || !request) return ignoredDelivery('unrelated', '/action')
  const unheard = unheardOf(sender, request)
  if (unheard) return unheard
  const since = request.at ?? about.updated_at ?? null
  const { number } = about
  const asked = {
    scope: `${repository.listed}#${number}`,
    author: sender.login,
    target: { repository: repository.name, number, since, ...marksOf(payload, request) },
  }
  const allowed = request.isOfService ? {} : allowedBy(payload, config)
  if (!allowed) return ignoredStranger(request, asked)
  const text = request.text.toWellFormed()
  return {
    kind: 'message',
    ...asked,
    text,
    ...(request.isFollowUp && { isFollowUp: true }),
    ...(request.wake && { wake: { ...request.wake, pull_request: asked.scope } }),
    ...(request.isForAny && { named: namedIn(text, [config.mention ?? '']) }),
    context: contextOf(payload, about),
    ...allowed,
    ...saidAt(since),
  }
}

/** A program, or a person who did not write the text. */
function unheardOf(
  { type, login }: Payload['sender'],
  { author = '', isByApp }: CallOfAgent,
): IgnoredDelivery | undefined {
  if (type !== 'User' || isByApp) return ignoredDelivery('bot', '/sender/type')
  return sameName(author, login) ? undefined : ignoredDelivery('stranger', '/sender/login')
}

/** People talk to each other too: a comment that mentions nobody is not refused. */
const ignoredStranger = ({ isFollowUp, wake }: CallOfAgent, refusal: Refusal): Incoming =>
  isFollowUp || wake
    ? ignoredDelivery('unrelated', '/comment/body')
    : { ...ignoredDelivery('stranger', '/sender/login'), refusal }

/** `listed`: the repository's name in the publication. `name`: its present name. */
function repositoryOf(
  { repository }: Payload,
  { repositories, known }: GithubConfig,
): ListedRepository | undefined {
  if (!repository) return undefined
  const { full_name: name, id } = repository
  const listed = listedName(repositories, known?.repositories, { name, id: id?.toString() })
  return listed === undefined ? undefined : { listed, name }
}

/** Undefined for a stranger. `check`: GitHub has to say whether the sender may call the agent. */
function allowedBy(
  { sender, repository }: Payload,
  { repositories, authors, access = null, teams = [], known }: GithubConfig,
): Pick<IncomingMessage, 'check' | 'learned'> | undefined {
  const person = { name: sender.login, id: sender.id?.toString() }
  const place = { name: repository?.full_name ?? '', id: repository?.id?.toString() }
  const learned: KnownIds = {
    ...withNames('repositories', learnedName(repositories, known?.repositories, place)),
    ...withNames('authors', learnedName(authors, known?.authors, person)),
  }
  const found = Object.keys(learned).length > 0 ? { learned } : {}
  if (listedName(authors, known?.authors, person) !== undefined) return found
  if (access === null && teams.length === 0) return undefined
  return { ...found, check: { login: sender.login, repository: place.name } }
}

const withNames = (kind: keyof KnownIds, names: Readonly<Record<string, string>> | undefined) =>
  names === undefined ? {} : { [kind]: names }

function saidAt(time: string | null): { saidMs?: number } {
  const saidMs = Date.parse(time ?? '')
  return Number.isFinite(saidMs) ? { saidMs } : {}
}

const pointerOf = ({ issues }: z.ZodError): string =>
  (issues[0]?.path ?? []).map((part) => `/${String(part)}`).join('')

const textOrNull = (text: string | null | undefined): string | null =>
  text ? shortenContext(text) : null

function contextOf({ issue, comment }: Payload, about: Thread): IncomingMessage['context'] {
  const { head, base, labels } = about
  return {
    type: issue && !issue.pull_request ? 'issue' : 'pull request',
    url: textOrNull(about.html_url),
    title: shortenContext(about.title),
    author: textOrNull(about.user?.login),
    body: textOrNull(about.body),
    ...(about.state && { state: about.state }),
    ...(labels && labels.length > 0 && { labels: labels.map(({ name }) => shortenContext(name)) }),
    ...(head && { head: branchText(head) }),
    ...(base && { base: branchText(base) }),
    ...(comment?.path && { line: lineOf(comment) }),
  }
}

const branchText = ({ ref, repo }: NonNullable<Thread['head']>): string =>
  shortenContext(repo ? `${repo.full_name}:${ref}` : ref)

/** The line of a pull request that a comment is about. */
function lineOf({ path, line, original_line, start_line, side, diff_hunk }: Post): ContextData {
  const at = line ?? original_line
  return {
    path: textOrNull(path),
    ...(start_line && { from_line: start_line }),
    ...(at && { line: at }),
    ...(side && { side: side === 'LEFT' ? 'before the change' : 'after the change' }),
    diff_hunk: textOrNull(diff_hunk),
  }
}

/**
 * Marks for the target of answers: whether the thread is a pull request, whether a review was requested, what was said,
 * and the comment that begins the thread of a line.
 */
function marksOf(
  { issue, pull_request, comment }: Payload,
  { isReview }: CallOfAgent,
): IncomingMessage['target'] {
  const isOfLine = pull_request !== undefined && comment?.id !== undefined
  return {
    ...((pull_request ?? issue?.pull_request) && { pull: 1 }),
    ...(isReview && { review: 1 }),
    ...(comment?.id !== undefined && { said: comment.id }),
    ...(isOfLine && { line_thread: comment.in_reply_to_id ?? comment.id }),
  }
}

function decisionOf(payload: Payload, repository: string, config: GithubConfig): Incoming {
  const { sender } = payload
  const pressed = pressOf(payload, config)
  if (!pressed) return ignoredDelivery('unrelated', '/check_run')
  if (sender.type !== 'User') return ignoredDelivery('bot', '/sender/type')
  const allowed = allowedBy(payload, config)
  if (!allowed) return ignoredDelivery('stranger', '/sender/login')
  const { number, ...decision } = pressed
  return {
    kind: 'decision',
    scope: `${repository}#${number}`,
    author: sender.login,
    ...decision,
    ...allowed,
  }
}

/** The pressed button of one of this app's check runs. `number`: the number of the pull request. */
function pressOf(
  { action, check_run, requested_action }: Payload,
  { mention }: GithubConfig,
): (Pick<IncomingDecision, 'call' | 'message' | 'result'> & { number: string }) | undefined {
  if (!check_run || mention === null || check_run.app?.slug !== mention) return undefined
  if (action !== 'requested_action' || !requested_action) return undefined
  const [, number, call] = externalIdForm.exec(check_run.external_id ?? '') ?? []
  if (number === undefined || call === undefined) return undefined
  const result = requested_action.identifier === 'approve' ? 'allow' : 'deny'
  return { number, call, message: String(check_run.id), result }
}
