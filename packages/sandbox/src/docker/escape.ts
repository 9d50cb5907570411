import type { Cases } from '../fixture.ts'
export const escapeCases: Cases = {}
