/**
 * Remarks on lines in a message of the agent, and where GitHub takes them. A heading that names a path and a line begins
 * a remark; the next heading ends it. A message that is shown as it is can be read all the same.
 */
import { z } from 'zod'
import { fenceBehind } from '../answers/parts.ts'
import type { CodeFence } from '../answers/parts.ts'
import { parsePayload } from '../deliveries/payload.ts'

export type Side = 'LEFT' | 'RIGHT'

/** `from`: the first of several lines. `LEFT`: the lines are those before the change. */
export type Remark = { path: string; line: number; from?: number; side: Side; text: string }

/** A part of a message. `whole`: with its heading. `remark`: absent for the text between remarks. */
export type MessageSection = { whole: string; remark?: Remark }

/** Where GitHub takes the remark of the segment with this number. */
export type Placement = { segment: number; path: string; line: number; from?: number; side: Side }

/** The most remarks of a review. Further ones stay in the text. */
const mostRemarks = 50
/** Remarks that are longer stay in the text. */
const mostRemark = 10_000
/** A message that is longer is told in parts. Its remarks stay in the text. */
const mostText = 50_000

/** Attack: an agent may repeat what a stranger has written, so each pattern takes time in proportion to its text alone. */
const headingForm = /^ {0,3}#{1,6}[ \t]+/
const lineForm =
  /^(?<path>[^\s:#]?[^:#]{0,499}?)(?::L?|#L| lines? )(?<from>\d{1,7})(?:\s*[-–]\s*L?(?<to>\d{1,7}))?(?:\s*\((?<side>[^)]{1,40})\))?(?:[\s:.,–—-]+(?<rest>[\s\S]*))?$/
const before = /\b(?:before|left|old|base|removed|deleted)\b/i

/** The lines that two numbers name, in order. Undefined: there is no line 0. */
function linesOf(from: string, to: string): Pick<Remark, 'line' | 'from'> | undefined {
  const [first = 0, last = 0] = [Number(from), Number(to)].toSorted((a, b) => a - b)
  if (first === 0) return undefined
  return { line: last, ...(first !== last && { from: first }) }
}

/** The text of a heading, without the marks around it. Empty for another line. */
function titleOf(line: string): string {
  const [marks] = headingForm.exec(line) ?? []
  if (marks === undefined) return ''
  const title = line.slice(marks.length).trimEnd()
  let end = title.length
  while (title.charAt(end - 1) === '#') end--
  return title.slice(0, end).trimEnd()
}

/** The place that a heading names, and what it says behind it. */
function headingOf(line: string): (Omit<Remark, 'text'> & { rest: string }) | undefined {
  const title = titleOf(line)
  const plain = title.replaceAll(/[`*]/g, '').trim()
  const { path = '', from = '0', to = from, side, rest = '' } = lineForm.exec(plain)?.groups ?? {}
  const lines = linesOf(from, to)
  if (!lines || path.trim() === '') return undefined
  return {
    path: path.trim().replace(/^\.?\//, ''),
    ...lines,
    side: before.test(side ?? '') ? 'LEFT' : 'RIGHT',
    rest: rest.trim(),
  }
}

/** Divides a message before each of its headings that are not code. */
function sectionsOf(text: string): string[][] {
  const sections: string[][] = [[]]
  let open: CodeFence | undefined
  for (const line of text.split('\n')) {
    const isHeading = open === undefined && headingForm.test(line)
    if (isHeading) sections.push([])
    sections.at(-1)?.push(line)
    open = fenceBehind(open, line)
  }
  return sections
}

export function segmentsOf(text: string): MessageSection[] {
  if (text.length > mostText) return [{ whole: text }]
  let remarks = 0
  return sectionsOf(text).map((lines) => {
    const whole = lines.join('\n')
    const found = headingOf(lines[0] ?? '')
    if (!found) return { whole }
    const { rest, ...place } = found
    const own = lines.slice(1).join('\n').trim()
    const said = [rest && `**${rest}**`, own].filter(Boolean).join('\n\n')
    if (said === '' || said.length > mostRemark || ++remarks > mostRemarks) return { whole }
    return { whole, remark: { ...place, text: said } }
  })
}

export const hasRemarks = (text: string): boolean =>
  segmentsOf(text).some(({ remark }) => remark !== undefined)

/** The text without the remarks of these segments. */
export const textWithout = (text: string, segments: readonly number[]): string =>
  segmentsOf(text)
    .filter((_, index) => !segments.includes(index))
    .map(({ whole }) => whole)
    .join('\n')
    .trim()

/** Lines of a hunk that a remark may stand on, by side. */
type Hunk = Record<Side, Set<number>>

const hunkForm = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Removed lines are on the left side; added ones and those around them are on the right. */
function hunksOf(patch: string): Hunk[] {
  const hunks: Hunk[] = []
  let [left, right] = [0, 0]
  for (const line of patch.split('\n')) {
    const [, from, to] = hunkForm.exec(line) ?? []
    const hunk = hunks.at(-1)
    if (from !== undefined && to !== undefined) {
      ;[left, right] = [Number(from), Number(to)]
      hunks.push({ LEFT: new Set(), RIGHT: new Set() })
    } else if (line.startsWith('-')) hunk?.LEFT.add(left++)
    else if (line.startsWith('+')) hunk?.RIGHT.add(right++)
    else if (line.startsWith(' ')) {
      hunk?.RIGHT.add(right++)
      left++
    }
  }
  return hunks
}

const filesForm = z.array(z.object({ filename: z.string(), patch: z.string().nullish() }))
type ChangedFiles = z.infer<typeof filesForm>

/** The file of the path, or the only one whose path ends so. */
function fileOf(files: ChangedFiles, path: string): ChangedFiles[number] | undefined {
  const same = files.find(({ filename }) => filename === path)
  const [one, ...others] = files.filter(({ filename }) => filename.endsWith(`/${path}`))
  return same ?? (others.length === 0 ? one : undefined)
}

const placed = (segment: number, { path, line, from, side }: Omit<Remark, 'text'>): Placement => ({
  segment,
  path,
  line,
  ...(from !== undefined && { from }),
  side,
})

function placeInFiles(files: ChangedFiles, segment: number, remark: Remark): Placement[] {
  const file = fileOf(files, remark.path)
  const hunk = hunksOf(file?.patch ?? '').find((each) => each[remark.side].has(remark.line))
  if (!file || !hunk) return []
  const { from, line, side } = remark
  const isRange = from !== undefined && hunk[side].has(from)
  return [placed(segment, { path: file.filename, line, side, ...(isRange && { from }) })]
}

/** Places the remarks of a message that stand on changed lines. `files`: the body of GitHub's answer. */
export function placeRemarks(text: string, files: string): Placement[] | undefined {
  const { data } = filesForm.safeParse(parsePayload(Buffer.from(files)))
  return (
    data &&
    segmentsOf(text).flatMap(({ remark }, segment) =>
      remark ? placeInFiles(data, segment, remark) : [],
    )
  )
}

/** Places all remarks where the message says so, because it is not known what is changed. */
export const placeUnseen = (text: string): Placement[] =>
  segmentsOf(text).flatMap(({ remark }, segment) => (remark ? [placed(segment, remark)] : []))

const placementForm = z.object({
  segment: z.int(),
  path: z.string(),
  line: z.int(),
  from: z.int().optional(),
  side: z.enum(['LEFT', 'RIGHT']),
})

/** The segments whose remarks a review has, as notes keep them. */
export const parseSegments = (kept: string): number[] => z.array(z.int()).parse(JSON.parse(kept))

/** Placements as the target of a telling keeps them. Undefined: nobody has asked GitHub yet. */
export function parsePlacements(kept: unknown): Placement[] | undefined {
  if (typeof kept !== 'string') return undefined
  return z.array(placementForm).parse(JSON.parse(kept))
}
