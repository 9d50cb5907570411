/** Tellings on GitHub: a comment for each turn, which is edited, reviews, and the texts and buttons of questions. */
import { z } from 'zod'
import {
  askByCheck,
  endCheck,
  foundCheck,
  buildHeadCall,
  notedCheck,
  searchCheck,
  targetWithHead,
} from './checks.ts'
import type { ExternalThread, Notes, ProviderCall, SearchResult, Telling } from '../integration.ts'
import { parsePayload, shortenedAnswer } from '../deliveries/payload.ts'
import { codeOf } from '../answers/questions.ts'
import type { PlanStep } from '../answers/plan.ts'
import type { CheckCall } from './checks.ts'
import { elsewhereAfter, knowsAnswer, textElsewhere, threadNameOf } from './elsewhere.ts'
import {
  beginsReview,
  buildFilesCall,
  isOfReview,
  mostReviews,
  notesAfterRemarks,
  reviewCall,
  targetUnseen,
  targetWithRemarks,
  textBesideRemarks,
} from './reviews.ts'
import { buildGet, githubHeaders } from './calls.ts'
import { block, cut, markOf, quiet, withLink } from './texts.ts'

/** The most characters of a call's input, so that the question behind the input is not cut off. */
const mostInput = 50_000

/** The text of a comment, for the tellings that have one. */
function textOf(telling: Telling, thread: ExternalThread): string | undefined {
  switch (telling.kind) {
    case 'begun':
      return openComment(thread) ? textElsewhere(thread) : withLink('Working on it.', thread)
    case 'reply':
      return withLink(cut(textBesideRemarks(telling, thread)), thread)
    case 'more':
      return cut(quiet(telling.text))
    case 'stopped':
      return withLink('Stopped.', thread)
    case 'ended':
      return withLink('Done, without words.', thread)
    case 'refused':
    case 'notice':
      return quiet(telling.message)
    case 'error':
      return withLink(`**This did not work.** ${cut(quiet(telling.message))}`, thread)
    case 'plan':
      return withLink(cut(`Working on it.\n\n${telling.steps.map(stepText).join('\n')}`), thread)
    case 'question':
      return cut(`${callText(telling)}\n\n${howToAnswer(telling)}`)
    default:
      return undefined
  }
}

const stepText = ({ content, isDone }: PlanStep): string =>
  `- [${isDone ? 'x' : ' '}] ${quiet(content)}`

const howToAnswer = ({ needs, call }: Extract<Telling, { kind: 'question' }>): string =>
  needs === 'confirmation'
    ? `May it? Mention the agent with the one word \`approve\`, or \`deny\`. Where more questions are open, add the code of this one: \`approve ${codeOf(call)}\`.`
    : 'Mention the agent with the answer.'

const callText = ({ name, input }: { name: string; input: string }): string =>
  `The agent wants to call \`${quiet(name)}\`:\n\n${block(shortenedAnswer(quiet(input), mostInput))}`

const repositoryOf = ({ target }: ExternalThread): string | undefined => {
  const { repository, number } = target
  return repository === undefined || number === undefined ? undefined : String(repository)
}

const withHeaders = (call: CheckCall | null): ProviderCall | null =>
  call && { ...call, headers: githubHeaders }

export const lookUp = {
  callFor: (telling: Telling, thread: ExternalThread): ProviderCall | null =>
    telling.kind === 'confirmation'
      ? withHeaders(buildHeadCall(thread))
      : buildFilesCall(telling, thread),
  targetOf: (telling: Telling, thread: ExternalThread, body: string): Notes | undefined =>
    telling.kind === 'reply' || telling.kind === 'remarks'
      ? targetWithRemarks(telling, thread, body)
      : targetWithHead(thread, body),
  targetWithout: (telling: Telling, thread: ExternalThread): Notes | undefined =>
    telling.kind === 'reply' || telling.kind === 'remarks'
      ? targetUnseen(telling, thread)
      : undefined,
}

export function callFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  const repository = repositoryOf(thread)
  if (repository === undefined) return null
  if (telling.kind === 'confirmation')
    return withHeaders(askByCheck(telling, thread, { repository, text: callText(telling) }))
  if (telling.kind === 'action')
    return telling.result === null ? null : withHeaders(endCheck(telling, thread, repository))
  if (telling.kind === 'accepted') return reactionFor(thread, repository)
  if (telling.kind === 'remarks' || telling.kind === 'reply') {
    if (isOfReview(telling, thread)) return reviewCall(telling, thread, repository)
  }
  return callWithText(telling, thread, repository)
}

/** Shows at once that a text was read. GitHub keeps one such reaction of an app. */
function reactionFor({ target }: ExternalThread, repository: string): ProviderCall {
  const { number, said, line_thread } = target
  const on = (() => {
    if (typeof said !== 'number') return `issues/${String(number)}`
    return typeof line_thread === 'number' ? `pulls/comments/${said}` : `issues/comments/${said}`
  })()
  const body = JSON.stringify({ content: 'eyes' })
  const path = `/repos/${repository}/${on}/reactions`
  return { method: 'POST', path, headers: githubHeaders, body, isOptional: true }
}

/** The comment of the turn that says that the agent works. What ends the turn replaces its text. */
function openComment({ notes }: ExternalThread): { id: number; path: string } | undefined {
  const { comment: id, comment_in } = notes
  if (typeof id !== 'number') return undefined
  return { id, path: comment_in === 'line' ? `pulls/comments/${id}` : `issues/comments/${id}` }
}

/** The turn has read a mention in another thread than that of its comment. Null where that thread knows. */
function callElsewhere(
  thread: ExternalThread,
  repository: string,
  body: string,
): ProviderCall | null {
  if (knowsAnswer(thread)) return null
  return {
    method: 'POST',
    ...placeFor(thread, repository),
    headers: githubHeaders,
    body: JSON.stringify({ body }),
  }
}

/** Whether the telling is a comment of its own beside that of the turn. */
const standsAlone = ({ kind }: Telling): boolean => kind === 'more' || kind === 'notice'

/** Whether the telling changes the comment of the turn, and nothing without such a comment. */
const changesAlone = ({ kind }: Telling): boolean => kind === 'ended' || kind === 'plan'

function callWithText(
  telling: Telling,
  thread: ExternalThread,
  repository: string,
): ProviderCall | null {
  const text = textOf(telling, thread)
  if (text === undefined) return null
  const marked = `${text}\n\n${markOf(telling, thread)}`
  const open = openComment(thread)
  if (telling.kind === 'begun' && open) return callElsewhere(thread, repository, marked)
  if (beginsReview(telling, thread)) return null
  if (changesAlone(telling) && !open) return null
  const body = JSON.stringify({ body: marked })
  return open && !standsAlone(telling)
    ? {
        method: 'PATCH',
        path: `/repos/${repository}/${open.path}`,
        headers: githubHeaders,
        body,
        continues: true,
        ...(telling.kind === 'plan' && { isOptional: true }),
      }
    : { method: 'POST', ...placeFor(thread, repository), headers: githubHeaders, body }
}

/** Where a new comment goes: into the thread of a line, or below the issue or pull request. */
function placeFor({ target }: ExternalThread, repository: string) {
  const { number, line_thread } = target
  return typeof line_thread === 'number'
    ? {
        path: `/repos/${repository}/pulls/${String(number)}/comments/${line_thread}/replies`,
        repliesInThread: true,
      }
    : { path: `/repos/${repository}/issues/${String(number)}/comments` }
}

/** The target without the thread of a line, which somebody has deleted. */
export const withoutLineThread = ({ line_thread, ...target }: Notes): Notes | undefined =>
  line_thread === undefined ? undefined : target

/** Returns null for an edit, because repeating an edit does no harm. */
export function searchFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  if (telling.kind === 'confirmation') {
    const repository = repositoryOf(thread)
    return repository === undefined ? null : withHeaders(searchCheck(telling, thread, repository))
  }
  const call = callFor(telling, thread)
  if (call?.method !== 'POST' || telling.kind === 'accepted') return null
  if (isOfReview(telling, thread)) return buildGet(`${call.path}?per_page=${mostReviews}`)
  const { since, number } = thread.target
  const query = `per_page=100&since=${encodeURIComponent(String(since))}`
  const path = call.repliesInThread
    ? `/repos/${String(thread.target['repository'])}/pulls/${String(number)}/comments?sort=created&direction=desc&${query}`
    : `${call.path}?${query}`
  return buildGet(path)
}

const made = z.object({
  id: z.number().int().positive(),
  html_url: z.string().max(1_000).optional(),
})
type PostedText = z.infer<typeof made>
const listed = z.array(made.extend({ body: z.string().nullish() }))
const parsed = (body: string): unknown => parsePayload(Buffer.from(body))

/** Finds the comment by its mark, which nobody but this service knows before the comment is posted. */
export function findGithubComment(
  telling: Telling,
  thread: ExternalThread,
  body: string,
): SearchResult {
  if (telling.kind === 'confirmation') return foundCheck(telling, thread, body)
  const { data } = listed.safeParse(parsed(body))
  if (!data) return { kind: 'unreadable' }
  const mark = markOf(telling, thread)
  const comment = data.find((each) => each.body?.includes(mark))
  if (comment)
    return {
      kind: 'found',
      notes: notesAfter(telling, thread, comment),
      ...(comment.html_url !== undefined && { url: comment.html_url }),
    }
  const isCut = isOfReview(telling, thread) && data.length >= mostReviews
  return { kind: isCut ? 'unreadable' : 'absent' }
}

export function githubNotesAfter(telling: Telling, thread: ExternalThread, body: string): Notes {
  if (telling.kind === 'confirmation') return notedCheck(telling, thread, body)
  if (telling.kind === 'action' || telling.kind === 'accepted') return thread.notes
  const { data } = made.safeParse(parsed(body))
  return data ? notesAfter(telling, thread, data) : thread.notes
}

/** Where people read the telling. */
export const githubUrlOf = (body: string): string | undefined =>
  made.safeParse(parsed(body)).data?.html_url

function notesAfter(telling: Telling, thread: ExternalThread, { id, html_url }: PostedText): Notes {
  const { kind } = telling
  const { target, notes } = thread
  if (standsAlone(telling) || kind === 'plan') return notes
  if (kind === 'remarks') return notesAfterRemarks(telling, thread, html_url)
  if (kind !== 'begun') return {}
  if (openComment(thread)) return { ...notes, elsewhere: elsewhereAfter(thread) }
  return {
    comment: id,
    comment_at: threadNameOf(target),
    ...(html_url !== undefined && { comment_url: html_url }),
    ...(typeof target['line_thread'] === 'number' && { comment_in: 'line' }),
  }
}
