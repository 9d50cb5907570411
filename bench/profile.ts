/** Sums a CPU profile of V8 by room and by function. */
import { columns } from './figures.ts'

type ProfileNode = {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
  children?: number[]
}
/** The times are in microseconds. */
export type CpuProfile = { nodes: ProfileNode[]; samples: number[]; timeDeltas: number[] }

const hottest = 25
/** Rooms with a smaller share of the busy time are summed in one line. */
const leastShare = 0.001

/** V8's name for time that belongs to no code. */
const native = "Node's own native code"
const pseudo = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(idle)', 'idle'],
  ['(program)', native],
  ['(root)', native],
])

/**
 * The room of a file: the folder of its package, in the server with wing and room. A library has the name of its
 * package.
 */
export function roomOf({ url }: { url: string }): string {
  if (url.startsWith('node:')) return 'Node internals'
  const library = [...url.matchAll(/\/node_modules\/(@[^/]+\/[^/]+|[^/]+)/g)].at(-1)?.[1]
  if (library !== undefined) return `library ${library}`
  const [, name, path = ''] = /\/packages\/([^/]+)\/src\/(.*)$/.exec(url) ?? []
  if (name === undefined) return 'elsewhere'
  const folders = name === 'server' ? path.split('/').slice(0, -1).slice(0, 2) : []
  return [name, ...folders].join('/')
}

type Share = { name: string; ms: number }

/** A native function has no file, so its time counts for its caller. */
export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): {
  rooms: Share[]
  functions: Share[]
} {
  const parents = new Map<number, ProfileNode>()
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node)
  const callerOf = (node: ProfileNode): ProfileNode | undefined => {
    let caller: ProfileNode | undefined = node
    while (caller?.callFrame.url === '') caller = parents.get(caller.id)
    return caller
  }
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const rooms = new Map<string, number>()
  const functions = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id)
    if (!node) continue
    const ms = (timeDeltas[index] ?? 0) / 1000
    const name = node.callFrame.functionName || '(anonymous)'
    const caller = callerOf(node)
    const room = pseudo.get(name) ?? (caller ? roomOf(caller.callFrame) : native)
    add(rooms, room, ms)
    if (!pseudo.has(name)) add(functions, `${name}  ${sourceOf(caller)}`, ms)
  }
  return { rooms: ranked(rooms), functions: ranked(functions).slice(0, hottest) }
}

const add = (sums: Map<string, number>, name: string, ms: number): void =>
  void sums.set(name, (sums.get(name) ?? 0) + ms)

const ranked = (sums: Map<string, number>): Share[] =>
  [...sums].map(([name, ms]) => ({ name, ms })).toSorted((a, b) => b.ms - a.ms)

function sourceOf(node: ProfileNode | undefined): string {
  if (!node) return ''
  const { url, lineNumber } = node.callFrame
  const path = url.replace(/^file:\/\//, '').replace(/^.*\/(packages|node_modules)\//, '')
  return `${path}:${lineNumber + 1}`
}

/** The table of shares: of the whole time, and of the time that was not idle. */
export function profileTable(profile: CpuProfile): string {
  const { rooms, functions } = sharesOf(profile)
  const all = sum(rooms)
  const busy = sum(rooms.filter(({ name }) => name !== 'idle'))
  const row = ({ name, ms }: Share): string[] => [
    name,
    `${Math.round(ms)} ms`,
    percent(ms / all),
    name === 'idle' ? '' : percent(ms / busy),
  ]
  const head = ['time', 'of all', 'of busy']
  const small = rooms.filter(({ ms }) => ms < leastShare * busy)
  const rest = { name: `${small.length} smaller rooms`, ms: sum(small) }
  const shown = [...rooms.filter((room) => !small.includes(room)), ...(rest.ms > 0 ? [rest] : [])]
  return [
    columns([['room', ...head], ...shown.map(row)]),
    columns([['function', ...head], ...functions.map(row)]),
  ].join('\n\n')
}

const sum = (shares: readonly Share[]): number => shares.reduce((all, { ms }) => all + ms, 0)
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
