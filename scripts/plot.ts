/**
 * Draws docs/figures/figures.svg from figures.csv beside it: a panel for each figure and database, its values over the
 * commits from left to right, and its goal as a broken line. Add rows to the CSV, then run `node scripts/plot.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

const folder = new URL('../docs/figures/', import.meta.url)

/** `goal` begins with ≤ or ≥. */
const PlotPoint = z.strictObject({
  commit: z.string().regex(/^[\da-f]{7}$/),
  database: z.enum(['SQLite', 'Postgres']),
  figure: z.string().min(1),
  unit: z.string(),
  value: z.coerce.number<string>().positive(),
  goal: z.string().regex(/^[≤≥]\d+(\.\d+)?$/),
})
export type Point = z.infer<typeof PlotPoint>

/** The first line names the columns. No value holds a comma. */
export function pointsOf(csv: string): Point[] {
  const [head = '', ...lines] = csv.trim().split('\n')
  const names = head.split(',')
  return lines.map((line, index) => {
    const values = line.split(',')
    const read = PlotPoint.safeParse(
      Object.fromEntries(names.map((name, at) => [name, values[at]])),
    )
    if (!read.success || values.length !== names.length)
      throw new Error(
        `line ${index + 2}: ${read.error?.issues[0]?.path.join('.') ?? 'columns'}: ${line}`,
      )
    return read.data
  })
}

const columns = 4
const panel = { width: 250, height: 130 }
const inner = { left: 12, right: 238, top: 44, bottom: 108 }

export function plotOf(points: readonly Point[]): string {
  const commits = [...new Set(points.map(({ commit }) => commit))]
  const panels = Map.groupBy(points, ({ figure, database }) => `${figure}, ${database}`)
  const drawn = [...panels].map(([title, own], index) => {
    const x = (index % columns) * panel.width
    const y = Math.floor(index / columns) * panel.height
    return `<g transform="translate(${x} ${y})">\n${panelOf(title, own, commits)}\n</g>`
  })
  const width = columns * panel.width
  const height = Math.ceil(panels.size / columns) * panel.height
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="10">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

/** The axis begins at 0. */
function panelOf(title: string, points: readonly Point[], commits: readonly string[]): string {
  const [last] = points.slice(-1)
  if (!last) return ''
  const goal = Number(last.goal.slice(1))
  const top = 1.1 * Math.max(goal, ...points.map(({ value }) => value))
  const y = (value: number) => round(inner.bottom - (value / top) * (inner.bottom - inner.top))
  const x = (commit: string) => {
    const share = commits.length === 1 ? 0.5 : commits.indexOf(commit) / (commits.length - 1)
    return round(inner.left + share * (inner.right - inner.left))
  }
  const marks = points.map(({ commit, value }) => ({ commit, x: x(commit), y: y(value) }))
  const isMet = last.goal.startsWith('≤') ? last.value <= goal : last.value >= goal
  const color = isMet ? '#1a7f37' : '#0550ae'
  return [
    `<text x="12" y="16" font-weight="bold">${escaped(title)}</text>`,
    `<text x="12" y="32">${last.value.toLocaleString('en')} ${escaped(last.unit)}, goal ${escaped(last.goal)}</text>`,
    `<line x1="${inner.left}" x2="${inner.right}" y1="${inner.bottom}" y2="${inner.bottom}" stroke="#999"/>`,
    `<line x1="${inner.left}" x2="${inner.right}" y1="${y(goal)}" y2="${y(goal)}" stroke="#cf222e" stroke-dasharray="4 3"/>`,
    `<polyline points="${marks.map((at) => `${at.x},${at.y}`).join(' ')}" fill="none" stroke="${color}"/>`,
    ...marks.map(
      (at) =>
        `<circle cx="${at.x}" cy="${at.y}" r="3" fill="${color}"><title>${at.commit}</title></circle>`,
    ),
    `<text x="${inner.left}" y="${inner.bottom + 12}" fill="#555">${points[0]?.commit}${points.length > 1 ? ` … ${last.commit}` : ''}</text>`,
  ].join('\n')
}

const round = (value: number): number => Math.round(value * 10) / 10
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

if (import.meta.main) {
  const csv = readFileSync(new URL('figures.csv', folder), 'utf8')
  writeFileSync(new URL('figures.svg', folder), plotOf(pointsOf(csv)))
}
