// Reads [[value, form of the control in a link], …] as JSON, prints how an address has each of the values.

globalThis.location = new URL("http://app/");
const { spell } = await import("../../explainers/ui/browser/common/address.js");
const values = JSON.parse(await new Response(Deno.stdin.readable).text());
console.log(JSON.stringify(values.map(([value, form]) => spell(value, { usual: ["not one of them"], form }))));
