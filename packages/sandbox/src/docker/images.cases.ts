import type { Cases } from '../fixture.ts'
export const imageCases: Cases = {}
