# Ratios to the reference of each goal: bench guard --record FILE
2.004 rate: n=10: switch
0.000 rate: n=10: alloc
1.917 rate: n=100: switch
0.000 rate: n=100: alloc
1.697 rate: n=10000: switch
0.000 rate: n=10000: alloc
0.985 rate: n=10000 to n=10: growth
1.030 rate_features: n=100: switch
0.000 alloc: yield: alloc
0.000 alloc: sleep: alloc
0.000 alloc: after: alloc
0.000 alloc: wait: alloc
0.000 alloc: event: alloc
0.000 alloc: flag: alloc
0.000 alloc: lock: alloc
0.000 alloc: semaphore: alloc
0.000 alloc: queue: alloc
0.000 alloc: readInto: alloc
0.743 callbacks: callSoon: call
0.000 callbacks: callSoon: alloc
0.190 callbacks: callLater: call
0.000 callbacks: callLater: alloc
