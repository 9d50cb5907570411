import { testCrashes } from './crash-suite-fixture.ts'

testCrashes('postgres')
