/** For tests: runs a turn and records its steps. */
import type { AssistantBlock } from '@steward/model/model.ts'
import { onlyWhenFull } from './compaction/settings.ts'
import { fakeModel } from './fake-model.ts'
import type { FakeModel, ScriptedAnswer } from './fake-model.ts'
import { emptyHistory, foldHistory } from './history.ts'
import type { KeptEvent } from './kept-event.ts'
import { runTurn } from './loop.ts'
import { noServers } from './tools/mcp/servers.ts'
import type { ToolEgress } from './tools/egress.ts'
import type { Tool, ToolResult } from './tools/tool.ts'
import { textResult } from './tools/tool.ts'
import type { LiveFrame, Turn, TurnEnd, TurnStep } from './turn.ts'

let serial = 0
export const newEventId = (): string => `sevt_${++serial}`

export const text = (said: string): AssistantBlock => ({ type: 'text', text: said })
export const thinking = (said: string, state?: string): AssistantBlock => ({
  type: 'thinking',
  text: said,
  ...(state === undefined ? {} : { state }),
})
export const call = (name: string, input: Record<string, unknown> = {}): AssistantBlock => ({
  type: 'tool_call',
  id: `call_${++serial}`,
  name,
  input,
})

export const userMessage = (said: string): KeptEvent => ({
  event: { id: newEventId(), type: 'user.message', content: [{ type: 'text', text: said }] },
})

/** The surroundings of a turn without MCP servers and egress. */
export const plainSurroundings = {
  harness: 'default' as const,
  compaction: onlyWhenFull,

  servers: noServers,
  refusals: () => [],
  notices: () => [],
  changed: async () => [],
  announced: async () => [],
}
export const shutEgress: ToolEgress = {
  outbound: () => Promise.reject(new Error('shut')),
  web: null,
  commandSecrets: async () => ({}),
}

/** A tool whose result is its name, unless the test replaces parts. */
export function tool(
  name: string,
  { run = async () => textResult(`${name} ran`), ...more }: Partial<Tool> = {},
): Tool {
  return {
    name,
    description: `does ${name}`,
    input_schema: { type: 'object', properties: {} },
    runs: 'here',
    input: 'checked',
    permission: 'allow',
    repeat: 'never',
    sandbox: 'unused',
    prepare() {},
    run,
    ...more,
  }
}

/** Resolves when the signal aborts, with the result of an interrupted tool. */
export const untilAborted = (signal: AbortSignal): Promise<ToolResult> =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(textResult('interrupted', true)), {
      once: true,
    }),
  )

export type TurnRecord = {
  model: FakeModel
  /** Stored events in order, including the events of the end. */
  keeps: KeptEvent[][]
  end: TurnEnd
  frames: LiveFrame[]
  /** One word for each store and each frame, in order. */
  order: string[]
  /** All events that the log would have of this turn. */
  log: KeptEvent[]
  sleeps: number[]
  reported: unknown[]
}

export type TurnScript = Partial<Omit<Turn, 'model' | 'signal'>> & {
  answers?: ScriptedAnswer[]
  /** Called at every step; may abort. */
  on?: (step: TurnStep, abort: () => void) => void
  before?: KeptEvent[]
}

export async function playTurn({
  answers = [],
  on,
  before,
  ...more
}: TurnScript = {}): Promise<TurnRecord> {
  const model = fakeModel(answers)
  const stop = new AbortController()
  const [sleeps, reported, keeps, frames, order] = [
    [] as number[],
    [] as unknown[],
    [] as KeptEvent[][],
    [] as LiveFrame[],
    [] as string[],
  ]
  const steps = runTurn({
    system: 'be brief',
    history: foldHistory(emptyHistory(), before ?? [userMessage('go')]),
    tools: [],
    ...plainSurroundings,
    open: [],
    cacheKey: 'sesn_1',
    maxRequests: 20,
    retryDelaysMs: [10, 20],
    sleep: async (ms) => void sleeps.push(ms),
    newEventId,
    report: (error) => reported.push(error),
    ...more,
    model,
    signal: stop.signal,
  })
  for (;;) {
    const { done, value } = await steps.next()
    if (done) {
      const log = [...keeps.flat(), ...value.last]
      return { model, keeps, end: value, frames, order, log, sleeps, reported }
    }
    if (value.type === 'keep') keeps.push(value.kept)
    else frames.push(value.frame)
    order.push(value.type === 'keep' ? `keep ${typesOf(value.kept).join(' ')}` : value.frame.kind)
    on?.(value, () => stop.abort())
  }
}

export const typesOf = (kept: readonly KeptEvent[]): string[] => kept.map(({ event }) => event.type)
