import { engineTests } from './suite-fixture.ts'

await engineTests('docker')
