import { engineTests } from './suite.ts'

await engineTests('docker')
