import type Anthropic from '@anthropic-ai/sdk'
import type { MountedKind } from '@steward/space/mounted-kinds.ts'

export type ClientSession = Awaited<ReturnType<Anthropic['beta']['sessions']['retrieve']>>

export type InputPlace = {
  /** Speaks by the claim's token. */
  client: Anthropic
  session: ClientSession
  /** Kept for the session's next work on this machine; nothing of the session writes to it. */
  folder: string
  /** Host path of the workspace, which nobody outside of the sandbox looks into. */
  workdir: string
  /** Host path of `/mnt/user`; without one there is none. */
  user?: string | undefined
  /** Whether the workspace is as an earlier harness of the session left it, here or elsewhere. */
  isKnown: boolean
  /** Whether commands see the host's own paths. */
  isHost: boolean
}

/**
 * Lays one kind of thing out. Nothing outside of the sandbox follows what the session has written: what goes into a folder
 * that it writes to is copied from inside.
 */
export type Input = (place: InputPlace) => Promise<MountedKind>
