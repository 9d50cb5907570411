import { Scroll } from '../../components/layout.tsx'
import { Page } from '../../components/page.tsx'
import { words } from '../../lib/words.ts'
import { Asking, Codes, Plots, Talks, Timelines, Tools } from './contents.tsx'
import { Buttons, Fields, FilterLines, Selects } from './controls.tsx'
import { Comboboxes, Finds, FirstDays, Records, Requests } from './forms.tsx'
import { PanelSets } from './panels.tsx'
import { FormParts } from './form-parts.tsx'
import { RecordParts } from './records.tsx'
import { Surfaces } from './surfaces.tsx'
import { Tables, TabSets, Values } from './values.tsx'

/** Every component with its states: the one design, to look at and to test. */
export const ComponentsPage = () => (
  <Page title={words.pages.components}>
    <Scroll isPadded>
      <Buttons />
      <Fields />
      <Selects />
      <Comboboxes />
      <Requests />
      <FilterLines />
      <FormParts />
      <Values />
      <Tables />
      <Records />
      <TabSets />
      <Codes />
      <Talks />
      <Tools />
      <Asking />
      <Finds />
      <FirstDays />
      <Timelines />
      <Plots />
      <PanelSets />
      <RecordParts />
      <Surfaces />
    </Scroll>
  </Page>
)
