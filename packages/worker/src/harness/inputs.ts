/** What a session brings with it, fetched by the claim's token and laid out in its sandbox. [worker/lane/supervised] */
import type { FurnishedAll } from '@steward/space/furnished.ts'
import { furnish } from '@steward/space/furnished.ts'
import { furnishFiles } from './files.ts'
import type { Input, InputPlace, ClientSession } from './input.ts'
import { furnishOutputs } from './outputs.ts'
import { furnishRepositories } from './repositories.ts'
import { furnishSkills } from './skills.ts'
import { furnishStores } from './stores.ts'
import { furnishUserFolder } from './user.ts'

type ResourceType = ClientSession['resources'][number]['type']

const kinds: readonly Input[] = [
  furnishRepositories,
  furnishSkills,
  furnishFiles,
  furnishStores,
  furnishUserFolder,
  furnishOutputs,
]
const laidOut: readonly ResourceType[] = ['file', 'github_repository', 'memory_store']

/** Throws, naming it, for a resource that this harness does not lay out. */
export async function inputsOf(place: InputPlace): Promise<FurnishedAll> {
  const { resources, id } = place.session
  const other = resources.find(({ type }) => !laidOut.includes(type))
  if (other) throw new Error(`this harness lays no ${other.type} out, and ${id} has one`)
  return furnish(kinds, place)
}
