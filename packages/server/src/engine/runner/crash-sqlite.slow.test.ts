import { testCrashes } from './crash-suite-fixture.ts'

testCrashes('sqlite')
