/** Reviews of the agent: the answer to a requested review, and remarks on lines in any answer on a pull request. */
import type { ExternalThread, Notes, ProviderCall, Telling } from '../integration.ts'
import type { Placement } from './remarks.ts'
import {
  hasRemarks,
  parsePlacements,
  parseSegments,
  placeRemarks,
  placeUnseen,
  segmentsOf,
  textWithout,
} from './remarks.ts'
import { buildGet, githubHeaders } from './calls.ts'
import { cut, markOf, quiet, withLink } from './texts.ts'

/** The most reviews of one answer. GitHub lists the oldest reviews first, and cannot list the newest first. */
export const mostReviews = 100

/** What the agent is told where a pull request calls it. */
export const reviewHint =
  'Your last message of a turn is shown on the pull request. A heading that names a path and a line, such as `### src/pay.ts:12` or `### src/pay.ts:12-15`, begins a remark on these lines, which the next heading ends; `(before)` behind the numbers means lines that were removed. Remarks on lines that the pull request changes become one review, and the rest stays in the message.'

type RemarkedTelling = Extract<Telling, { kind: 'reply' | 'remarks' }>

const hasText = (telling: Telling): telling is RemarkedTelling =>
  telling.kind === 'reply' || telling.kind === 'remarks'

/** True for what answers a requested review: the answer itself is a review, unless a comment of the turn is open. */
const answersByReview = ({ target, notes }: ExternalThread): boolean =>
  target['review'] === 1 && typeof notes['comment'] !== 'number'

/** True when the telling is posted as a review. */
export function isOfReview(telling: Telling, thread: ExternalThread): boolean {
  const { kind } = telling
  if (answersByReview(thread)) return kind === 'reply'
  return kind === 'remarks' && thread.target['pull'] === 1
}

/** True for the beginning of a turn whose answer is a review. */
export const beginsReview = ({ kind }: Telling, thread: ExternalThread): boolean =>
  kind === 'begun' && answersByReview(thread)

/** Asks which lines are changed. */
export function buildFilesCall(telling: Telling, thread: ExternalThread): ProviderCall | null {
  const { repository, number, remarks } = thread.target
  if (!hasText(telling) || !isOfReview(telling, thread)) return null
  if (remarks !== undefined || !hasRemarks(telling.text)) return null
  const path = `/repos/${String(repository)}/pulls/${String(number)}/files?per_page=100`
  return buildGet(path)
}

const withPlacements = ({ target }: ExternalThread, placements: readonly Placement[]): Notes => ({
  ...target,
  remarks: JSON.stringify(placements),
})

export function targetWithRemarks(
  { text }: RemarkedTelling,
  thread: ExternalThread,
  body: string,
): Notes | undefined {
  const placements = placeRemarks(text, body)
  return placements && withPlacements(thread, placements)
}

/** GitHub says which lines are wrong only when the review is posted. */
export const targetUnseen = ({ text }: RemarkedTelling, thread: ExternalThread): Notes =>
  withPlacements(thread, placeUnseen(text))

const counted = (count: number): string =>
  `${count} ${count === 1 ? 'remark' : 'remarks'} on lines.`

/** Null where no remark has a line, and nothing else is to say. */
export function reviewCall(
  telling: RemarkedTelling,
  thread: ExternalThread,
  repository: string,
): ProviderCall | null {
  const placements = parsePlacements(thread.target['remarks']) ?? []
  if (telling.kind === 'remarks' && placements.length === 0) return null
  const segments = segmentsOf(telling.text)
  const comments = placements.map(({ segment, path, line, from, side }) => ({
    path,
    line,
    side,
    ...(from !== undefined && { start_line: from, start_side: side }),
    body: quiet(segments[segment]?.remark?.text ?? ''),
  }))
  const left =
    telling.kind === 'remarks'
      ? ''
      : textWithout(
          telling.text,
          placements.map(({ segment }) => segment),
        )
  const text = left === '' ? counted(comments.length) : cut(quiet(left))
  const shown = telling.kind === 'reply' ? withLink(text, thread) : text
  const body = {
    body: `${shown}\n\n${markOf(telling, thread)}`,
    event: 'COMMENT',
    ...(comments.length > 0 && { comments }),
  }
  return {
    method: 'POST',
    path: `/repos/${repository}/pulls/${String(thread.target['number'])}/reviews`,
    headers: githubHeaders,
    body: JSON.stringify(body),
    ...(comments.length > 0 && { otherTarget: withPlacements(thread, []) }),
  }
}

/** The notes after a review of remarks: which of them the answer leaves out, and where they stand. */
export const notesAfterRemarks = (
  { id }: Telling,
  { target, notes }: ExternalThread,
  url: string | undefined,
): Notes => ({
  ...notes,
  remarks_of: id,
  remarks: JSON.stringify((parsePlacements(target['remarks']) ?? []).map(({ segment }) => segment)),
  ...(url !== undefined && { remarks_url: url }),
})

/** The text of an answer, without the remarks that a review has. */
export function textBesideRemarks(
  { id, text }: { id: string; text: string },
  { notes }: ExternalThread,
): string {
  const { remarks_of, remarks, remarks_url } = notes
  if (remarks_of !== `${id}.remarks` || typeof remarks !== 'string') return quiet(text)
  const segments = parseSegments(remarks)
  const sentence = counted(segments.length)
  const link = typeof remarks_url === 'string' ? `[${sentence}](${remarks_url})` : sentence
  return [quiet(textWithout(text, segments)), link].filter(Boolean).join('\n\n')
}
