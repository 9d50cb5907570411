import { AfterQuery, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import { OpenAITraceShown } from '@steward/protocol/openai/traces.ts'
import type { OpenAITrace } from '@steward/protocol/openai/traces.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { defaultLimit, openaiList } from '../page.ts'
import { sessionLog } from '../turns/logs.ts'
import { readTurns } from '../turns/pages.ts'
import { eventPositions } from '../turns/event-positions.ts'
import { mostSpans, buildTrace } from './trace.ts'

const traces = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/sessions/:id/traces')

export function traceRoutes(): Route[] {
  const positions = eventPositions()
  return [
    traces.get(
      '',
      {
        summary: 'List traces',
        description: 'One for each turn that is over.',
        query: AfterQuery,
        answer: OpenAIListOf(OpenAITraceShown),
      },
      async ({ db, tenant, params: { id }, query }) => {
        const log = await sessionLog(db.read, tenant, id)
        const { limit = defaultLimit, order = 'desc', after } = query
        // Reads two more turns than asked: the running turn and the queued turn behind it have no trace yet.
        const { turns, more } = await readTurns(log, positions, { limit: limit + 2, order, after })
        const all = turns.filter(({ last }) => last !== null)
        const over = all.slice(0, limit)
        const shown: OpenAITrace[] = []
        let spans = 0
        for (const turn of over) {
          if (spans >= mostSpans.page) break
          const { trace, size } = await buildTrace(log, turn)
          shown.push(trace)
          spans += size
        }
        return openaiList(shown, more || shown.length < all.length)
      },
    ),
  ]
}
