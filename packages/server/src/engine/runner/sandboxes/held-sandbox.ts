/** The types of everything that a session holds in this process: sandbox, MCP connections, egress. */
import type { Rules } from '../../../ground/core/rules/rules.ts'
import { join } from 'node:path'
import type { MountedKinds } from '@steward/space/mounted-kinds.ts'
import type { McpServers } from '@steward/harness/tools/mcp/servers.ts'
import type { TurnNotice } from '@steward/harness/turn.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type {
  Sandbox,
  SandboxLimits,
  SandboxProvider,
  SandboxSpec,
} from '@steward/sandbox/sandbox.ts'
import type { Checkpoints } from '../../../resources/checkpoints/checkpoints.ts'
import type { CheckpointSaving } from '../../../ground/config/config.ts'
import type { Log } from '@steward/base/log.ts'
import type { Share } from '../../../ground/core/fairness/share.ts'
import type { Clock } from '@steward/base/time.ts'
import type { SessionEgress } from '../../egress/callers/session.ts'
import type { OutboundLease } from '../../egress/inject/context.ts'
import type { SessionRow } from '../../../sessions/rows/sessions.ts'
import type { MountKind } from './mount-kind.ts'
import type { ProcessWaits } from '../process-waits.ts'

export type SandboxPoolDeps = {
  provider: SandboxProvider
  bind: (lease: OutboundLease) => SessionEgress
  /** Folder of all working folders. Every process of a deployment sees the same folder. */
  folder: string
  limits: SandboxLimits
  /** The tenants' shares of this process's sandboxes. */
  share: Share
  /** What workspaces allow now. */
  rules: Rules
  /** True when commands can leave the sandbox around the gate and the egress profile requires a warning about that. */
  isPassable: boolean
  idleMs: number
  /** The mount kinds of every sandbox. */
  kinds: readonly MountKind[]
  session: (tenant: string, session: string) => Promise<SessionRow>
  /** True while this process holds the session under this lease. */
  isOurs: (lease: RunLease) => Promise<boolean>
  checkpoints: Checkpoints
  /** When checkpoints of working folders are stored. */
  saving: CheckpointSaving
  /** Publishes the session's output files at the end of a turn, whether or not the sandbox runs. */
  publish: (claimed: RunLease, own: string, isRunning: boolean) => Promise<void>
  /** Appends to the session's log. Does nothing when this process has lost the lease. */
  keep: (claimed: RunLease, events: readonly NewEvent[]) => Promise<void>
  waits: ProcessWaits
  clock: Clock
  log: Log
}

export type RunLease = OutboundLease & { generation: number }
/** `released`: resolves when the sandbox and everything mounted into it has been cleaned up. */
export type StartedSandbox = { sandbox: Sandbox; mounted: MountedKinds; released: Promise<void> }
export type HeldSandbox = {
  lease: RunLease
  egress: SessionEgress
  started?: Promise<StartedSandbox>
  /** The value of `started` once the sandbox runs. */
  running?: StartedSandbox
  /** Aborts the wait for a sandbox slot. */
  waiting: AbortController
  /** MCP connections by thread; '' stands for the primary thread. */
  connected: Map<string, { key: string; servers: McpServers }>
  /** Settles when connections to replaced MCP servers are closed. */
  leaving: Promise<unknown>
  /**
   * Settles when the work after a turn (outputs, checkpoint) is done. `next`: that work for the turn that ended last,
   * not begun yet.
   */
  resting: Promise<void>
  next?: Promise<void>
  notices: TurnNotice[]
  /** True when a file may have changed since the last checkpoint of the working folder. */
  isChanged: boolean
  /**
   * The last checkpoint of this process. `print`: fingerprint of the files when it began; `at`: its time in
   * milliseconds.
   */
  saved?: { print: string; at: number }
}

export const sandboxPaths = (
  folder: string,
  session: string,
): Pick<SandboxSpec, 'id' | 'workspace' | 'outputs'> => ({
  id: session,
  workspace: join(folder, session, 'workspace'),
  outputs: join(folder, session, 'outputs'),
})
