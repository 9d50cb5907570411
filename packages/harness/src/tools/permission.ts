import type { PermissionPolicy } from '@steward/protocol/tools.ts'
import type { Tool } from './tool.ts'

/** `auto` asks: nobody here judges a call but a person. */
export const permissionOf = ({ type }: PermissionPolicy): Tool['permission'] =>
  type === 'always_allow' ? 'allow' : 'ask'
