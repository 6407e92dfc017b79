// SPDX-License-Identifier: Apache-2.0
// run runs the functions of an object, and ends the program with 1 if one of them failed.
export async function run(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log("ok  ", name);
    } catch (error) {
      failed++;
      console.log("FAIL", name, error);
    }
  }
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}
