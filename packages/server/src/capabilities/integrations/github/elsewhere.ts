/** What people are told in a thread whose mention is answered in another one, because one turn has read both. */
import type { ExternalThread, Notes } from '../integration.ts'

/** Names the thread of a line, or the issue or pull request. */
export const threadNameOf = ({ number, line_thread }: Notes): string =>
  `${String(number)}/${typeof line_thread === 'number' ? line_thread : ''}`

export const textElsewhere = ({ notes: { comment_url: url } }: ExternalThread): string =>
  `This was read together with another comment. The answer comes ${
    typeof url === 'string' ? `[there](${url})` : 'there'
  }.`

/** The threads that know already where the answer comes. */
const toldThreads = ({ comment_at, elsewhere }: Notes): string[] =>
  [comment_at, ...String(elsewhere ?? '').split(' ')].flatMap((each) =>
    typeof each === 'string' && each !== '' ? [each] : [],
  )

/** True where the answer comes in this thread, or the thread knows where. */
export const knowsAnswer = ({ target, notes }: ExternalThread): boolean =>
  // A comment of an earlier version does not say where it stands.
  notes['comment_at'] === undefined || toldThreads(notes).includes(threadNameOf(target))

const mostThreads = 50

/** The note of the threads that know it, with the present one. */
export const elsewhereAfter = ({ target, notes }: ExternalThread): string =>
  [...String(notes['elsewhere'] ?? '').split(' '), threadNameOf(target)]
    .slice(-mostThreads)
    .join(' ')
    .trim()
