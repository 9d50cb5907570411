/** Texts of tellings on GitHub. */
import { shortenedAnswer } from '../deliveries/payload.ts'
import type { ExternalThread, Telling } from '../integration.ts'

/** The most characters of a comment. */
export const mostCharacters = 60_000

/** Nobody but this service knows the mark of a telling, or of a call, before it is posted. */
export const markOf = (
  { id }: Pick<Telling, 'id'>,
  { session }: Pick<ExternalThread, 'session'>,
): string => `<!-- steward:${session}:${id} -->`

/**
 * A mark of this service in a text at GitHub, which people do not see. Attack: in a text of many beginnings each one is
 * read to the next alone.
 */
export const ownMark = /<!-- steward:[^<>]*-->/g

/** The words of GitHub that link an issue to a pull request, with its number. */
export const closing = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s+#(\d{1,10})\b/gi

/**
 * The text without marks of this service. Attack: what is left after a mark within a mark is taken away would be one.
 */
export const withoutMarks = (text: string): string =>
  text.replaceAll(ownMark, '').replaceAll('<!-- steward:', '&lt;!-- steward:')

/**
 * Attack: a mention in an agent's text would call a person, or the agent itself. GitHub looks for mentions after it has
 * decoded entities.
 */
export const quiet = (text: string): string =>
  text
    .replaceAll('@', '@\u200b')
    .replaceAll(/&(?=#0*64(?!\d)|#x0*40(?![\da-f])|commat;)/gi, '&amp;')

/** Markdown of a call's JSON. The fence is longer than any fence in the JSON. */
export function block(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${text}\n${fence}`
}

export const withLink = (text: string, { link }: ExternalThread): string =>
  link === undefined ? text : `${text}\n\n<sub>[Session](${link})</sub>`

export const cut = (text: string): string => shortenedAnswer(text, mostCharacters)
