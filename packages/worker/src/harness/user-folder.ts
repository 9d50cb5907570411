import { mountUser } from '@steward/space/working-folder/user.ts'
import type { MountInput } from './input.ts'

/** Only a supervisor knows a folder that belongs to this session alone and is kept with its working folder. */
export const mountUserFolder: MountInput = async ({ user }) =>
  user === undefined ? {} : mountUser(user)
