import { randomBytes } from 'node:crypto'

/** 256 random bits. Only the hash is stored, so only the browser that got the state knows it. */
export const newState = (): string => randomBytes(32).toString('base64url')
