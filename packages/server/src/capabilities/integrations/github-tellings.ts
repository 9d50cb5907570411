/** What GitHub is told: one comment for each turn that is edited, and the text of questions. */
import { z } from 'zod'
import type { ExternalThread, Notes, ProviderCall, SearchResult, Telling } from './integration.ts'
import { payloadOf, shortenedAnswer } from './payload.ts'

/** Of a comment. */
const mostCharacters = 60_000

const markOf = ({ id }: Telling, { session }: ExternalThread): string =>
  `<!-- steward:${session}:${id} -->`

/** Of the input of a call, so that the question behind it is not cut. */
const mostInput = 50_000

/** A mention in a text of an agent would call a person, or the agent itself. GitHub looks for mentions after entities are characters. */
const quiet = (text: string): string =>
  text
    .replaceAll('@', '@\u200b')
    .replaceAll(/&(?=#0*64(?!\d)|#x0*40(?![\da-f])|commat;)/gi, '&amp;')

/** JSON of a call as Markdown shows it: its fence is longer than any that it holds. */
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
          ? 'May it? Mention the agent with the one word `approve`, or `deny`.'
          : 'Mention the agent with the answer.'
      return `The agent wants to call \`${quiet(telling.name)}\`:\n\n${block(shortenedAnswer(quiet(telling.input), mostInput))}\n\n${how}`
    }
    case 'thought':
    case 'action':
      return undefined
  }
}

const headers = {
  accept: 'application/vnd.github+json',
  'content-type': 'application/json',
  'x-github-api-version': '2022-11-28',
}

const placeOf = ({ target }: ExternalThread): string | undefined => {
  const { repository, number } = target
  return repository === undefined || number === undefined
    ? undefined
    : `/repos/${String(repository)}/issues`
}

/** The comment of `accepted` is edited by what the same turn is told next, and not after that. */
export function callFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  const text = textOf(telling)
  const place = placeOf(thread)
  if (text === undefined || place === undefined) return null
  const body = JSON.stringify({
    body: `${shortenedAnswer(text, mostCharacters)}\n\n${markOf(telling, thread)}`,
  })
  const { comment } = thread.notes
  return typeof comment === 'number' && telling.kind !== 'accepted'
    ? { method: 'PATCH', path: `${place}/comments/${comment}`, headers, body }
    : {
        method: 'POST',
        path: `${place}/${String(thread.target['number'])}/comments`,
        headers,
        body,
      }
}

/** An edit may be repeated. */
export function searchFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  const call = callFor(telling, thread)
  if (call?.method !== 'POST') return null
  const path = `${call.path}?per_page=100&since=${encodeURIComponent(String(thread.target['since']))}`
  return { method: 'GET', path, headers, body: null }
}

const made = z.object({ id: z.number().int().positive() })
const listed = z.array(made.extend({ body: z.string().nullish() }))
const parsed = (body: string): unknown => payloadOf(Buffer.from(body))

/** Nobody but this service knows the mark before the comment is there. */
export function found(telling: Telling, thread: ExternalThread, body: string): SearchResult {
  const { data } = listed.safeParse(parsed(body))
  if (!data) return { kind: 'unreadable' }
  const mark = markOf(telling, thread)
  const comment = data.find((each) => each.body?.includes(mark))
  return comment ? { kind: 'found', notes: notesAfter(telling, comment.id) } : { kind: 'absent' }
}

export function noted(telling: Telling, { notes }: ExternalThread, body: string): Notes {
  const { data } = made.safeParse(parsed(body))
  return data ? notesAfter(telling, data.id) : notes
}

const notesAfter = ({ kind }: Telling, comment: number): Notes =>
  kind === 'accepted' ? { comment } : {}
