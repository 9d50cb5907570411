/** What a session works with besides its workspace: laid out before its sandbox starts, looked after while it runs. */
import type { Furnished } from '@steward/space/furnished.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { SessionEgress } from '../egress/doors/session.ts'
import type { SessionRow } from '../../sessions/rows/sessions.ts'

export type SessionPlace = {
  tenant: string
  session: string
  /** As they were when the sandbox was asked for. */
  row: SessionRow
  agent: SessionAgent
  environment: EnvironmentRecord
  /** The session's own on this host, and the server's alone. Each kind has one of its own name in it. */
  folder: string
  egress: SessionEgress
  /** Whether the workspace was there before: it holds what an earlier sandbox of the session left. */
  isKnown: boolean
  /** Appends to the session's log while it is this process's, for what people should see while it lasts. */
  keep: (events: readonly NewEvent[]) => Promise<void>
}

/** Lays one kind of thing out. `TurnFailed` of the harness, from here or any of what it returns, ends the turn. */
export type Furnish = (place: SessionPlace) => Promise<Furnished>
