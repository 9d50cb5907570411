import { mountUser } from '@steward/space/working-folder/user.ts'
import type { Input } from './input.ts'

/** Only a supervisor knows a folder that belongs to this session alone and is kept with its working folder. */
export const mountUserFolder: Input = async ({ user }) =>
  user === undefined ? {} : mountUser(user)
