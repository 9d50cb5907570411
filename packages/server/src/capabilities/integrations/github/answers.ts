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
import type { CheckCall } from './checks.ts'

/** The most characters of a comment. */
const mostCharacters = 60_000

const markOf = ({ id }: Telling, { session }: ExternalThread): string =>
  `<!-- steward:${session}:${id} -->`

/** The most characters of a call's input, so that the question behind the input is not cut off. */
const mostInput = 50_000

/**
 * Attack: a mention in an agent's text would call a person, or the agent itself. GitHub looks for mentions after it has
 * decoded entities.
 */
const quiet = (text: string): string =>
  text
    .replaceAll('@', '@\u200b')
    .replaceAll(/&(?=#0*64(?!\d)|#x0*40(?![\da-f])|commat;)/gi, '&amp;')

/** Markdown of a call's JSON. The fence is longer than any fence in the JSON. */
function block(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${text}\n${fence}`
}

function textOf(telling: Telling): string | undefined {
  switch (telling.kind) {
    case 'accepted':
      return 'Working on it.'
    case 'reply':
      return quiet(telling.text)
    case 'error':
      return `**This did not work.** ${quiet(telling.message)}`
    case 'question': {
      const how =
        telling.needs === 'confirmation'
          ? `May it? Mention the agent with the one word \`approve\`, or \`deny\`. Where more questions are open, add the code of this one: \`approve ${codeOf(telling.call)}\`.`
          : 'Mention the agent with the answer.'
      return `${callText(telling)}\n\n${how}`
    }
    case 'thought':
    case 'plan':
    case 'links':
    case 'begun':
    case 'files':
    case 'action':
    case 'confirmation':
      return undefined
  }
}

const callText = ({ name, input }: { name: string; input: string }): string =>
  `The agent wants to call \`${quiet(name)}\`:\n\n${block(shortenedAnswer(quiet(input), mostInput))}`

const headers = {
  accept: 'application/vnd.github+json',
  'content-type': 'application/json',
  'x-github-api-version': '2022-11-28',
}

const repositoryOf = ({ target }: ExternalThread): string | undefined => {
  const { repository, number } = target
  return repository === undefined || number === undefined ? undefined : String(repository)
}

const withHeaders = (call: CheckCall | null): ProviderCall | null => call && { ...call, headers }

export const lookUp = {
  callFor: (telling: Telling, thread: ExternalThread): ProviderCall | null =>
    telling.kind === 'confirmation' ? withHeaders(buildHeadCall(thread)) : null,
  targetOf: targetWithHead,
}

export function callFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  const repository = repositoryOf(thread)
  if (repository === undefined) return null
  if (telling.kind === 'confirmation')
    return withHeaders(askByCheck(telling, thread, { repository, text: callText(telling) }))
  if (telling.kind === 'action')
    return telling.result === null ? null : withHeaders(endCheck(telling, thread, repository))
  return callWithText(telling, thread, repository)
}

/** True when the telling is posted as a review: the agent answers a requested review by a review. */
const isOfReview = ({ kind }: Telling, { target, notes }: ExternalThread): boolean =>
  target['review'] === 1 &&
  (kind === 'accepted' || (kind === 'reply' && typeof notes['comment'] !== 'number'))

/** The next telling of the same turn edits the comment of `accepted`. Later tellings make new comments. */
function callWithText(
  telling: Telling,
  thread: ExternalThread,
  repository: string,
): ProviderCall | null {
  const text = textOf(telling)
  if (text === undefined) return null
  const marked = `${shortenedAnswer(text, mostCharacters)}\n\n${markOf(telling, thread)}`
  if (isOfReview(telling, thread)) {
    const path = `/repos/${repository}/pulls/${String(thread.target['number'])}/reviews`
    const body = JSON.stringify({ body: marked, event: 'COMMENT' })
    return telling.kind === 'reply' ? { method: 'POST', path, headers, body } : null
  }
  const issuesPath = `/repos/${repository}/issues`
  const body = JSON.stringify({ body: marked })
  const { comment } = thread.notes
  return typeof comment === 'number' && telling.kind !== 'accepted'
    ? { method: 'PATCH', path: `${issuesPath}/comments/${comment}`, headers, body, continues: true }
    : {
        method: 'POST',
        path: `${issuesPath}/${String(thread.target['number'])}/comments`,
        headers,
        body,
      }
}

/** Returns null for an edit, because repeating an edit does no harm. */
export function searchFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  if (telling.kind === 'confirmation') {
    const repository = repositoryOf(thread)
    return repository === undefined ? null : withHeaders(searchCheck(telling, thread, repository))
  }
  const call = callFor(telling, thread)
  if (call?.method !== 'POST') return null
  if (isOfReview(telling, thread))
    return { method: 'GET', path: `${call.path}?per_page=${mostReviews}`, headers, body: null }
  const path = `${call.path}?per_page=100&since=${encodeURIComponent(String(thread.target['since']))}`
  return { method: 'GET', path, headers, body: null }
}

/** The most reviews of one answer. GitHub lists the oldest reviews first, and cannot list the newest first. */
const mostReviews = 100

const made = z.object({ id: z.number().int().positive() })
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
  if (comment) return { kind: 'found', notes: notesAfter(telling, comment.id) }
  const isCut = isOfReview(telling, thread) && data.length >= mostReviews
  return { kind: isCut ? 'unreadable' : 'absent' }
}

export function githubNotesAfter(telling: Telling, thread: ExternalThread, body: string): Notes {
  if (telling.kind === 'confirmation') return notedCheck(telling, thread, body)
  if (telling.kind === 'action') return thread.notes
  const { data } = made.safeParse(parsed(body))
  return data ? notesAfter(telling, data.id) : thread.notes
}

const notesAfter = ({ kind }: Telling, comment: number): Notes =>
  kind === 'accepted' ? { comment } : {}
