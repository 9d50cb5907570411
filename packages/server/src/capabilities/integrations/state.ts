import { randomBytes } from 'node:crypto'

/** 256 random bits, of which the hash is kept: whoever has it was sent it. */
export const newState = (): string => randomBytes(32).toString('base64url')
