/**
 * Events of this wire as text of a stream. Their ids derive from the log, so every reader sees the same id for an
 * event.
 */
import type { OpenAISession } from '@steward/protocol/openai/sessions.ts'
import type { OpenAISubagent } from '@steward/protocol/openai/turns.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { LogOwner, LoggedTurn } from '../turns/turn.ts'
import { showTurn } from '../turns/turn.ts'

/** A frame of a stream without an event name: clients read only the data. */
const frameOf = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/** `part` distinguishes several wire events of one log event. */
const eventId = (id: string, part: string | number): string =>
  `evt_${id.slice(id.indexOf('_') + 1)}_${part}`

export type SessionWord = 'created' | 'in_progress' | 'idle' | 'requires_action' | 'failed'

/** The session is read after the event, when another turn may already run. So `word` replaces its status. */
export const sessionEvent = (word: SessionWord, id: string, session: OpenAISession): string =>
  frameOf({
    type: `agent.session.${word}`,
    event_id: eventId(id, `session_${word}`),
    session:
      word === 'created' ? session : { ...session, status: word, ...actionsOf(word, session) },
  })

const actionsOf = (word: SessionWord, { required_actions }: OpenAISession) => ({
  required_actions: word === 'requires_action' ? required_actions : [],
})

export type EnvironmentState = {
  status: 'pending' | 'ready' | 'failed'
  error: { code: string; message: string; type: string } | null
}
type EnvironmentOf = {
  session: string
  turn: string | null
  environment: Exclude<OpenAISession['environment'], { type: 'none' }>
}

export const environmentEvent = (
  { session: session_id, turn: turn_id, environment: { id, type } }: EnvironmentOf,
  event: string,
  state: EnvironmentState,
): string =>
  frameOf({
    type: `agent.session.environment.${state.status}`,
    event_id: eventId(event, `environment_${state.status}`),
    session_id,
    turn_id,
    environment: { id, type, ...state },
  })

export const environmentReset = (
  { session: session_id, turn: turn_id, environment: { id: environment_id } }: EnvironmentOf,
  event: string,
  reset_count: number,
): string =>
  frameOf({
    type: 'agent.session.environment.reset',
    event_id: eventId(event, 'environment_reset'),
    session_id,
    turn_id,
    environment_id,
    reset_count,
  })

/** The environment of a session that was created now: a sandbox starts with the first call that needs one. */
export const environmentReady = ({ id: session, environment }: OpenAISession): string =>
  environment.type === 'none'
    ? ''
    : environmentEvent({ session, turn: null, environment }, session, {
        status: 'ready',
        error: null,
      })

type EventOwner = { owner: LogOwner; turnId: () => string | null }

/** `content`: the index of a text block in its message. */
type LiveBlockRef = { id: string; index: number; content: number }

export const subagentEvent = (
  word: 'created' | 'closed',
  row: EventRow,
  subagent: OpenAISubagent,
): string =>
  frameOf({
    type: `agent.session.subagent.${word}`,
    event_id: eventId(row.id, `subagent_${word}`),
    subagent,
  })

export function createTurnEvents({ owner, turnId }: EventOwner) {
  const { session } = owner
  const say = (type: string, event_id: string, fields: object): string =>
    frameOf({
      type: `agent.session.turn.${type}`,
      event_id,
      session_id: session,
      turn_id: turnId(),
      ...fields,
    })

  const indexesOf = ({ id, index, content }: LiveBlockRef) => ({
    item_id: id,
    output_index: index,
    content_index: content,
  })

  return {
    owner,
    turnId: () => turnId() ?? '',
    base: (id: string) => ({ id, turn_id: turnId() ?? '' }),

    turn(word: string, row: EventRow, turn: LoggedTurn, extra: object = {}): string {
      const shown = showTurn(turn, owner)
      const queued = word === 'created' ? { status: 'queued', started_at: null } : {}
      return say(word, eventId(row.id, `turn_${word}`), { turn: { ...shown, ...queued }, ...extra })
    },

    item: (kind: 'added' | 'done', id: string, output_index: number, shown: object): string =>
      say(`item.${kind}`, eventId(id, `item_${kind}`), { item: shown, output_index }),

    part: (kind: 'added' | 'done', block: LiveBlockRef, text: string): string =>
      say(`content_part.${kind}`, eventId(block.id, `part${block.content}_${kind}`), {
        ...indexesOf(block),
        part: { type: 'output_text', text },
      }),

    /** `at`: the number of characters before `text`. */
    delta: (block: LiveBlockRef, text: string, at: number): string =>
      say('output_text.delta', eventId(block.id, `${block.content}_${at}`), {
        ...indexesOf(block),
        delta: text,
      }),

    /** `at`: the bytes of the output up to the end of `delta`. */
    command: (
      { row, index: output_index }: { row: EventRow; index: number },
      delta: string,
      at: number,
    ): string =>
      frameOf({
        type: 'agent.output.command_execution_output.delta',
        event_id: eventId(row.id, `output_${at}`),
        session_id: session,
        turn_id: turnId(),
        item_id: row.id,
        output_index,
        delta,
      }),

    text: (block: LiveBlockRef, text: string): string =>
      say('output_text.done', eventId(block.id, `text${block.content}`), {
        ...indexesOf(block),
        text,
      }),
  }
}

export type TurnEvents = ReturnType<typeof createTurnEvents>
