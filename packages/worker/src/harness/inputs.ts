/** The inputs of a session, fetched with the claim's token and mounted into its sandbox. [worker/lane/supervised] */
import type { MountedKinds } from '@steward/space/mounted-kinds.ts'
import { mountKinds } from '@steward/space/mounted-kinds.ts'
import { mountFiles } from './files.ts'
import type { MountInput, InputTarget, ClientSession } from './input.ts'
import { mountOutputs } from './outputs.ts'
import { mountRepositories } from './repositories.ts'
import { mountSkills } from './skills.ts'
import { mountStores } from './stores.ts'
import { mountUserFolder } from './user-folder.ts'

type InputKind = { type?: ClientSession['resources'][number]['type']; mount: MountInput }

/** `type`: of the resources that the kind mounts. */
const kinds: readonly InputKind[] = [
  { type: 'github_repository', mount: mountRepositories },
  { mount: mountSkills },
  { type: 'file', mount: mountFiles },
  { type: 'memory_store', mount: mountStores },
  { mount: mountUserFolder },
  { mount: mountOutputs },
]

/** Throws an error that names the resource when this harness does not support it. */
export async function mountInputs(target: InputTarget): Promise<MountedKinds> {
  const { resources, id } = target.session
  const other = resources.find((resource) => !kinds.some(({ type }) => type === resource.type))
  if (other)
    throw new Error(
      `session ${id} has a resource of type ${other.type}, which this harness cannot mount`,
    )
  return mountKinds(
    kinds.map(({ mount }) => mount),
    target,
  )
}
