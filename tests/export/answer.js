// Answer links as a file does. Reads { sent, links } as JSON, prints for each link the data of its picture, or
// null where only the app has them, what is refused and what is left to the app; and its choices, written
// as a link and read again.

import { Answers } from "../../explainers/ui/browser/static/answers.js";

const { sent, links } = JSON.parse(await new Response(Deno.stdin.readable).text());
const answers = new Answers(sent);
for (const link of links) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(link)) for (const one of [value].flat()) asked.append(name, one);
  const { choices, refused, left } = answers.read(asked), written = answers.write(choices);
  const again = answers.read(new URLSearchParams(written)).choices;
  console.log(JSON.stringify({ data: answers.find(choices), refused, left: Object.keys(left), choices, again, written }));
}
