/** What a session brings with it, fetched by the claim's token and laid out in its sandbox. contract.md 4.3 */
import type Anthropic from '@anthropic-ai/sdk'
import type { Furnished, FurnishedAll } from '@steward/harness/furnish/furnished.ts'
import { furnish } from '@steward/harness/furnish/furnished.ts'
import { furnishSkills } from './skills.ts'

type Session = Awaited<ReturnType<Anthropic['beta']['sessions']['retrieve']>>
type ResourceType = Session['resources'][number]['type']

export type InputPlace = {
  client: Anthropic
  session: Session
  /** Kept for the session's next work on this machine; nothing of the session writes to it. */
  folder: string
  /** Whether the workspace is as an earlier harness of the session left it, here or elsewhere. */
  isKnown: boolean
  /** Whether commands see the host's own paths. */
  isHost: boolean
}

/**
 * Lays one kind of thing out. Nothing outside of the sandbox follows what the session has written: what goes into a folder
 * that it writes to is copied from inside.
 */
export type Input = (place: InputPlace) => Promise<Furnished>

const kinds: readonly Input[] = [furnishSkills]
const laidOut: readonly ResourceType[] = []

/** Throws, naming it, for a resource that this harness does not lay out. */
export async function inputsOf(place: InputPlace): Promise<FurnishedAll> {
  const { resources, id } = place.session
  const other = resources.find(({ type }) => !laidOut.includes(type))
  if (other)
    throw new Error(
      `this harness lays no ${other.type} out: ${id} needs a worker of lane ama_worker`,
    )
  return furnish(kinds, place)
}
