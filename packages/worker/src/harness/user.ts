import { mountUser } from '@steward/space/workspace/user.ts'
import type { Input } from './input.ts'

/** Only a supervisor knows of a folder that is this session's alone and kept with its workspace. */
export const mountUserFolder: Input = async ({ user }) =>
  user === undefined ? {} : mountUser(user)
