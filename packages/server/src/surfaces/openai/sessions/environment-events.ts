/** What the log says about the environment of a session, as events of this wire. */
import { parseObject } from '@steward/base/json-object.ts'
import type { EventFields } from '@steward/protocol/events.ts'
import type { OpenAISession } from '@steward/protocol/openai/sessions.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { countWarnings } from '../turns/store.ts'
import type { SessionLog } from '../turns/turns.ts'
import type { EnvironmentState } from './wire-events.ts'
import { environmentEvent, environmentReset } from './wire-events.ts'

const replaced = 'sandbox_replaced'

type Build = EventFields['session.environment_build']

const ready: EnvironmentState = { status: 'ready', error: null }
const pending: EnvironmentState = { status: 'pending', error: null }

function failed({ lines }: Build): EnvironmentState {
  const message = ['The packages of the environment could not be installed.', ...lines].join('\n')
  return {
    status: 'failed',
    error: { code: 'packages_failed', message, type: 'environment_error' },
  }
}

/** `kept` returns '' for an event that is about something else, and for a state that was told before. */
export function environmentEvents(log: SessionLog, { environment }: OpenAISession) {
  let last: EnvironmentState['status'] | undefined
  /** The end of what one package manager installs. Another one may follow, so that what comes next tells the state. */
  let done: EventRow | undefined
  /** Counted from the log with the first: a stream hears of all that follow. */
  let resets: number | undefined

  async function countTo({ seq }: EventRow): Promise<number> {
    resets = resets === undefined ? await countWarnings(log, replaced, seq) : resets + 1
    return resets
  }

  return {
    async kept(row: EventRow, turn: string | null): Promise<string> {
      if (environment.type === 'none') return ''
      const of = { session: log.session, turn, environment }
      function tell({ id }: EventRow, state: EnvironmentState): string {
        done = undefined
        if (state.status === last) return ''
        last = state.status
        return environmentEvent(of, id, state)
      }
      if (row.type === 'session.environment_build') {
        const build = parseObject(row.data) as Build
        if (build.state === 'failed') return tell(row, failed(build))
        if (build.state !== 'done') return tell(row, pending)
        done = row
        return ''
      }
      const built = done ? tell(done, ready) : ''
      const isReset = row.type === 'session.warning' && parseObject(row.data)['reason'] === replaced
      return built + (isReset ? environmentReset(of, row.id, await countTo(row)) : '')
    },
  }
}
