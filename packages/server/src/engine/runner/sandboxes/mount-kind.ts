/** The resources of a session: mounted before its sandbox starts, and followed while the sandbox runs. */
import type { MountedKind } from '@steward/space/mounted-kinds.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { SessionEgress } from '../../egress/callers/session.ts'
import type { SessionRow } from '../../../sessions/rows/sessions.ts'

export type MountTarget = {
  tenant: string
  session: string
  /** The session row at the request for the sandbox. */
  row: SessionRow
  agent: SessionAgent
  environment: EnvironmentRecord
  /** The session's folder on this host; only the server opens it. Each kind has a folder of its own name in it. */
  folder: string
  /** A folder of this start alone, which goes with its sandbox. It lies on the same file system as `folder`. */
  start: string
  egress: SessionEgress
  /** True when the working folder holds files of an earlier sandbox of the session. */
  isKnown: boolean
  /** Appends events for people to the session's log, as long as this process holds the session. */
  keep: (events: readonly NewEvent[]) => Promise<void>
  /** Shows people that the session waits for this. */
  during: <T>(type: 'packages' | 'files', waited: Promise<T>) => Promise<T>
}

/** Mounts one kind. A `TurnFailed` of the harness, thrown here or by a hook of the mounted kind, ends the turn. */
export type MountKind = (target: MountTarget) => Promise<MountedKind>

/** Shows people the wait for a kind that may take long. */
export const whileWaiting =
  (type: 'packages' | 'files', kind: MountKind): MountKind =>
  (target) =>
    target.during(type, kind(target))
